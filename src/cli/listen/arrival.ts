/** An event as it came, its envelope in the bytes that webhooks get. */
export interface Arrival {
  id: string
  type: string
  body: string
}

/** What a stream said → an Arrival; null for what no server of ours says, which may be made to act at the terminal, or in the
 *  headers of the post. */
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
