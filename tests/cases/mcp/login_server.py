"""An MCP server of the Python SDK that wants tokens, with the SDK's own authorization routes.

Usage: login_server.py PORT. Tokens last 5 seconds and are renewed once each.
"""

import secrets
import sys
import time

from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    RefreshToken,
    TokenError,
    construct_redirect_uri,
)
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions
from mcp.server.mcpserver import MCPServer
from mcp.shared.auth import OAuthToken

PORT = int(sys.argv[1])
BASE = f"http://localhost:{PORT}"
SECONDS = 5


class Provider:
    def __init__(self):
        self.clients, self.codes, self.tokens, self.renewing = {}, {}, {}, {}

    async def get_client(self, client_id):
        return self.clients.get(client_id)

    async def register_client(self, client_info):
        self.clients[client_info.client_id] = client_info

    async def authorize(self, client, params):
        code = AuthorizationCode(
            code=secrets.token_hex(20),
            client_id=client.client_id,
            scopes=params.scopes or ["notes"],
            expires_at=time.time() + 60,
            code_challenge=params.code_challenge,
            redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly,
            resource=params.resource,
        )
        self.codes[code.code] = code
        return construct_redirect_uri(str(params.redirect_uri), code=code.code, state=params.state)

    async def load_authorization_code(self, client, authorization_code):
        return self.codes.get(authorization_code)

    async def exchange_authorization_code(self, client, authorization_code):
        del self.codes[authorization_code.code]
        return self.made(client.client_id, authorization_code.scopes)

    async def load_refresh_token(self, client, refresh_token):
        return self.renewing.get(refresh_token)

    async def exchange_refresh_token(self, client, refresh_token, scopes):
        if self.renewing.pop(refresh_token.token, None) is None:
            raise TokenError("invalid_grant", "it was used already")
        return self.made(client.client_id, scopes or refresh_token.scopes)

    async def load_access_token(self, token):
        found = self.tokens.get(token)
        return found if found and found.expires_at > time.time() else None

    async def revoke_token(self, token):
        pass

    def made(self, client_id, scopes):
        access, renew = secrets.token_hex(20), secrets.token_hex(20)
        ends = int(time.time()) + SECONDS
        self.tokens[access] = AccessToken(token=access, client_id=client_id, scopes=scopes, expires_at=ends)
        self.renewing[renew] = RefreshToken(token=renew, client_id=client_id, scopes=scopes)
        return OAuthToken(
            access_token=access, refresh_token=renew, expires_in=SECONDS, scope=" ".join(scopes)
        )


provider = Provider()
settings = AuthSettings(
    issuer_url=BASE,
    resource_server_url=f"{BASE}/mcp",
    required_scopes=["notes"],
    client_registration_options=ClientRegistrationOptions(enabled=True, valid_scopes=["notes"], default_scopes=["notes"]),
)
server = MCPServer("far", auth_server_provider=provider, auth=settings)


@server.tool()
def whoami() -> str:
    """Says what the caller may."""
    return " ".join(get_access_token().scopes)


server.run("streamable-http", host="localhost", port=PORT)
