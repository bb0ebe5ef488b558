/** One operation of the API, an entry of routes.ts. */
export interface Route {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** `/v1/messages/{message_id}`: each parameter is an argument of the method. */
  path: string
  /** Kind of the argument after the path parameters. If absent, there is none, and the options follow. */
  takes?: 'body' | 'query'
  /** Supports Idempotency-Key. */
  isKeyed?: true
  /** A POST that has no further effect if it is repeated, even without an idempotency key. */
  isRepeatable?: true
  /** A list with cursors. */
  isList?: true
  /** The response may have another content type than JSON. */
  isRaw?: true
  /** The response is a stream of events. */
  isStream?: true
}

/** Tree of operations: the method `webhooks.deliveries.list` is at `{ webhooks: { deliveries: { list } } }`. */
export interface Routes {
  readonly [name: string]: Route | Routes
}
