//! Event streams are each tenant's own, from whichever event on they are asked for.

use crate::http_support::{Answer, Gate};
use crate::http_tenants::{MISSING, STRANGERS, neutral, service_beside, with_key, world};

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_resumed_in_the_middle_is_as_closed_as_from_its_start() {
    let (folder, gate) = (tempfile::tempdir().unwrap(), Gate::new().await);
    let service = service_beside(folder.path(), &gate).await;
    let client = &service.client;
    let world = world(client, Some(&gate)).await;
    let (beta, acme) = (with_key(client, "beta"), with_key(client, "acme"));
    let of_acme = acme.run("function run() return 1 end").await["run_id"].as_str().unwrap().to_owned();
    for (status, id) in &world.runs {
        let records = beta.get(&format!("/v1/audit?run={id}")).await.json();
        for record in [&records["records"][0], records["records"].as_array().unwrap().last().unwrap()] {
            let sequence = record["sequence"].to_string();
            let resumed = async |name: &str, run: &str| {
                let stream = with_key(client, name).request("GET", &format!("/v1/runs/{run}/events"));
                Answer::of(stream.header("last-event-id", &sequence).send().await.unwrap()).await
            };
            for (name, _) in STRANGERS {
                let (own, none) = (resumed(name, id).await, resumed(name, MISSING).await);
                assert!([403, 404].contains(&own.status), "{name}: {}", own.text);
                assert_eq!(
                    (own.status, neutral(&own.text, &world)),
                    (none.status, neutral(&none.text, &world))
                );
            }
            // An event of one run does not open the stream of another, whosever it is.
            resumed("acme", &of_acme).await.problem(400, "bad_request");
        }
        if *status == "succeeded" {
            let first = records["records"][0]["sequence"].to_string();
            let stream = beta.request("GET", &format!("/v1/runs/{id}/events")).header("last-event-id", first);
            let own = Answer::of(stream.send().await.unwrap()).await;
            assert!(own.text.contains("event: plan_proposed") && !own.text.contains("event: run_started"));
        }
    }
    gate.open();
    beta.until_ended(&world.runs.last().unwrap().1).await;
}
