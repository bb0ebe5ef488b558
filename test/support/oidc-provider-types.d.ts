/** The part of oidc-provider that the tests use; it has no types of its own. */
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http'

  interface Context {
    path: string
    status: number
    body: unknown
    respond: boolean
    req: IncomingMessage
    res: ServerResponse
  }

  export default class Provider {
    constructor(
      issuer: string,
      configuration: {
        findAccount: (context: unknown, sub: string) => { accountId: string; claims: () => Promise<object> }
        interactions: { url: (context: unknown, interaction: { uid: string }) => string }
        [name: string]: unknown
      },
    )
    Grant: new (of: {
      accountId: string
      clientId: string
    }) => { addOIDCScope(scope: string): void; save(): Promise<string> }
    use(middleware: (context: Context, next: () => Promise<void>) => Promise<void>): void
    interactionFinished(request: IncomingMessage, response: ServerResponse, result: object): Promise<void>
    callback(): (request: IncomingMessage, response: ServerResponse) => void
  }
}
