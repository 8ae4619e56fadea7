-- A shop with the traps of real ones: money in two units, a discount by line, cancelled orders that keep their lines, orders
-- paid in part, customers who never ordered. Nothing is random: every figure can be computed again.
CREATE TYPE order_status AS ENUM ('new', 'paid', 'shipped', 'delivered', 'cancelled');

CREATE TABLE customers (
  id integer PRIMARY KEY,
  name text NOT NULL,
  email text NOT NULL UNIQUE,
  country char(2) NOT NULL,
  city text NOT NULL,
  segment text NOT NULL CHECK (segment IN ('private', 'business')),
  joined_on date NOT NULL,
  newsletter boolean NOT NULL
);

CREATE TABLE categories (
  id integer PRIMARY KEY,
  name text NOT NULL UNIQUE,
  parent_id integer REFERENCES categories
);

CREATE TABLE products (
  id integer PRIMARY KEY,
  sku text NOT NULL UNIQUE,
  name text NOT NULL,
  category_id integer NOT NULL REFERENCES categories,
  price numeric(10,2) NOT NULL,
  active boolean NOT NULL,
  stock integer NOT NULL,
  reorder_at integer NOT NULL
);
COMMENT ON COLUMN products.reorder_at IS 'order more when stock is below this';

CREATE TABLE orders (
  id integer PRIMARY KEY,
  customer_id integer NOT NULL REFERENCES customers,
  placed_at timestamptz NOT NULL,
  status order_status NOT NULL,
  shipping numeric(8,2) NOT NULL
);
COMMENT ON TABLE orders IS 'a cancelled order keeps its lines but is no revenue';

CREATE TABLE order_items (
  order_id integer NOT NULL REFERENCES orders,
  line smallint NOT NULL,
  product_id integer NOT NULL REFERENCES products,
  quantity integer NOT NULL,
  unit_price numeric(10,2) NOT NULL,
  discount_percent numeric(4,1) NOT NULL DEFAULT 0,
  PRIMARY KEY (order_id, line)
);
COMMENT ON COLUMN order_items.unit_price IS 'before the discount';

CREATE TABLE payments (
  id integer PRIMARY KEY,
  order_id integer NOT NULL REFERENCES orders,
  method text NOT NULL CHECK (method IN ('card', 'transfer', 'voucher')),
  amount_cents integer NOT NULL,
  paid_at timestamptz NOT NULL
);

CREATE TABLE returns (
  id integer PRIMARY KEY,
  order_id integer NOT NULL,
  line smallint NOT NULL,
  quantity integer NOT NULL,
  reason text NOT NULL CHECK (reason IN ('broken', 'late', 'unwanted')),
  returned_on date NOT NULL,
  FOREIGN KEY (order_id, line) REFERENCES order_items
);

CREATE TABLE tickets (
  id integer PRIMARY KEY,
  customer_id integer NOT NULL REFERENCES customers,
  opened_on date NOT NULL,
  closed_on date,
  priority smallint NOT NULL,
  subject text NOT NULL
);
COMMENT ON COLUMN tickets.closed_on IS 'null while the ticket is open';
COMMENT ON COLUMN tickets.priority IS '1 is urgent, 4 can wait';

INSERT INTO customers
SELECT n,
  (ARRAY['Ada','Ben','Cleo','Dan','Eva','Finn','Gia','Hugo'])[n % 8 + 1] || ' '
    || (ARRAY['Adler','Brandt','Costa','Dubois','Egger'])[n / 8 % 5 + 1],
  'customer' || n || '@example.com',
  (ARRAY['DE','FR','IT','ES','PL'])[n * 3 % 5 + 1],
  (ARRAY['Berlin','Paris','Rome','Madrid','Warsaw','Hamburg','Lyon','Milan'])[n * 5 % 8 + 1],
  CASE WHEN n % 4 = 0 THEN 'business' ELSE 'private' END,
  date '2024-01-15' + n * 17,
  n % 3 = 0
FROM generate_series(1, 40) AS n;

INSERT INTO categories VALUES
  (1, 'Home', NULL), (2, 'Garden', NULL), (3, 'Kitchen', 1), (4, 'Light', 1), (5, 'Tools', 2), (6, 'Plants', 2);

INSERT INTO products
SELECT n,
  'SKU-' || lpad((n * 7)::text, 4, '0'),
  (ARRAY['Kettle','Lamp','Spade','Fern','Pan','Candle','Rake','Ivy'])[n % 8 + 1] || ' ' || n,
  n % 4 + 3,
  (n * 37 % 90 + 5) + 0.9,
  n % 9 <> 0,
  n * 13 % 60,
  n * 5 % 25 + 5
FROM generate_series(1, 24) AS n;

INSERT INTO orders
SELECT n,
  n * 7 % 36 + 1,
  timestamptz '2026-01-03 09:00+00' + n * interval '37 hours',
  (ARRAY['delivered','delivered','shipped','paid','new','delivered','cancelled','delivered','shipped','delivered'])[n % 10 + 1]::order_status,
  n % 4 * 2.45
FROM generate_series(1, 150) AS n;

INSERT INTO order_items
SELECT n, line, (n * 5 + line * 3) % 22 + 1, (n + line) % 4 + 1,
  (SELECT price FROM products WHERE id = (n * 5 + line * 3) % 22 + 1),
  CASE WHEN (n + line) % 5 = 0 THEN 12.5 ELSE 0 END
FROM generate_series(1, 150) AS n, generate_series(1, n % 3 + 1) AS line;

INSERT INTO payments
SELECT n, n, (ARRAY['card','transfer','card','voucher'])[n % 4 + 1],
  (SELECT round(sum(quantity * unit_price * (100 - discount_percent)) + shipping * 100)
     / CASE WHEN n % 17 = 0 THEN 2 ELSE 1 END FROM order_items WHERE order_id = n)::integer,
  placed_at + interval '20 hours'
FROM orders, LATERAL (SELECT id AS n) AS same
WHERE status IN ('paid', 'shipped', 'delivered');

INSERT INTO returns
SELECT n, n * 5 % 150 + 1, 1, 1, (ARRAY['broken','late','unwanted'])[n % 3 + 1],
  (SELECT placed_at::date + 15 FROM orders WHERE id = n * 5 % 150 + 1)
FROM generate_series(1, 30) AS n
WHERE (SELECT status FROM orders WHERE id = n * 5 % 150 + 1) = 'delivered';

INSERT INTO tickets
SELECT n, n * 11 % 40 + 1, date '2026-02-01' + n * 9,
  CASE WHEN n % 3 = 0 THEN NULL ELSE date '2026-02-01' + n * 9 + n % 7 + 1 END,
  n % 4 + 1,
  (ARRAY['Parcel is missing','Wrong invoice','Question about a lamp','Refund'])[n % 4 + 1]
FROM generate_series(1, 25) AS n;
