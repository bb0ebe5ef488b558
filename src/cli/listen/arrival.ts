/** A received event; `body` is the envelope exactly as webhooks get it. */
export interface Arrival {
  id: string
  type: string
  body: string
}

/** Validates an event of a stream; null if no Postrider server sends such an event, since its text reaches the terminal and
 *  request headers. */
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
