/** Headers → waiting time in ms; null if absent or not understood, which RFC 7240 §2 requires to ignore. Values over
 *  30 s become 30 s. Never throws. RFC 7240 §4.3. */
export function preferredWaitMs(headers: Headers): number | null {
  const prefer = headers.get('prefer')
  if (prefer === null) return null
  for (const preference of prefer.split(/[,;]/)) {
    const seconds = WAIT.exec(preference)?.[1]
    if (seconds !== undefined && Number(seconds) >= 1) return Math.min(Number(seconds), MAX_WAIT_SECONDS) * 1000
  }
  return null
}

const WAIT = /^\s*wait\s*=\s*"?(\d{1,9})"?\s*$/i
const MAX_WAIT_SECONDS = 30
