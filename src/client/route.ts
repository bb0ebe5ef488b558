/** One operation of the API, as routes.ts has it. */
export interface Route {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** `/v1/messages/{message_id}`: each parameter is an argument. */
  path: string
  /** Kind of the argument after the path parameters; without it the options come next. */
  takes?: 'body' | 'query'
  /** Understands Idempotency-Key. */
  isKeyed?: true
  /** A POST that may be repeated without a key. */
  isRepeatable?: true
  /** A list with cursors. */
  isList?: true
  /** The response may be something other than JSON. */
  isRaw?: true
  /** Events as they happen. */
  isStream?: true
}

export interface Routes {
  readonly [name: string]: Route | Routes
}
