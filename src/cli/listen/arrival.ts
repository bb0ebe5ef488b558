/** An event as it came, its envelope in the bytes that webhooks get. */
export interface Arrival {
  id: string
  type: string
  body: string
}
