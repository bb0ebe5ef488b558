import type { Sender } from '../senders/senders.ts'

/** What limits and reputation count for: a destination, or where sending addresses are configured, a destination and the
 *  address that mail is sent from. Without them the key is the destination itself. */
export function limitKey(destination: string, sender: Sender | null): string {
  return sender === null ? destination : `${destination} ${sender[0].address}`
}

/** No destination contains a space. */
export function destinationIn(key: string): string {
  const at = key.indexOf(' ')
  return at < 0 ? key : key.slice(0, at)
}

/** Null: the system chooses the address. */
export function addressIn(key: string): string | null {
  const at = key.indexOf(' ')
  return at < 0 ? null : key.slice(at + 1)
}
