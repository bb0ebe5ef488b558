/** Headers → how long the caller would like to wait, in ms; null when it does not say, or says it in a way we do not
 *  understand, which RFC 7240 §2 wants ignored. More than 30 s is 30 s (contract §3). Never throws. RFC 7240 §4.3. */
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
