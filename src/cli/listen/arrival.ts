/** A received event. `body` is its envelope as JSON, byte for byte as in a webhook request. */
export interface Arrival {
  id: string
  type: string
  body: string
}

/** Event of a stream → Arrival. Null if it is not an event that a Postrider server sends: its text goes to the terminal
 *  and into request headers. */
export function arrivalOf({ id, type, data }: { id: string; type: string; data: string }): Arrival | null {
  if (!/^[\w-]{1,100}$/.test(id) || !/^[a-z_.]{1,60}$/.test(type)) return null
  try {
    const { timestamp, data: facts } = JSON.parse(data)
    const isEnvelope = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(timestamp) && typeof facts === 'object' && facts !== null
    return isEnvelope ? { id, type, body: data } : null
  } catch {
    return null
  }
}
