/** One operation of the API, as routes.ts has it. */
export interface Route {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** `/v1/messages/{message_id}`: each parameter is an argument. */
  path: string
  /** What the argument behind them is; none = the options come next. */
  takes?: 'body' | 'query'
  /** Understands Idempotency-Key. */
  isKeyed?: true
  /** A POST that may be made twice without a key. */
  isRepeatable?: true
  /** A list with cursors. */
  isList?: true
  /** Its answer may be something else than JSON. */
  isRaw?: true
  /** Events as they happen. */
  isStream?: true
}

export interface Routes {
  readonly [name: string]: Route | Routes
}
