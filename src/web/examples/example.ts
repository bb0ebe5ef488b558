/** What an example does, in no language yet. */
export interface ExampleRequest {
  method: string
  /** With filled-in parameters and query: `/v1/events?type=message.bounced`. */
  path: string
  /** JSON of the body; undefined for none. */
  body: unknown
  /** What the example does with the response: prints JSON, saves anything else in a file, or prints events until it is
   *  stopped. */
  answer: 'json' | 'bytes' | 'events'
  /** Name of the file for `bytes`. */
  file: string
  /** `session`: of an operator; no key can call the operation. */
  access: 'key' | 'session'
  /** The call of the TypeScript client; null where it has none. */
  call: ClientCall | null
}

export interface ClientCall {
  /** `webhooks.deliveries.list` */
  name: string
  /** Values of the path parameters. */
  ids: string[]
  /** The last argument; undefined for none. */
  input: unknown
  /** As the client describes it: a list is read item by item, a stream event by event. */
  route: { isList?: boolean | undefined; isStream?: boolean | undefined }
}

/** Where an example sends its request, and as whom. */
export interface Setting {
  /** `https://mail.example.com` */
  origin: string
  /** The key itself, or null: the example reads it from the environment variable POSTRIDER_API_KEY. */
  key: string | null
}
