/** Request headers → waiting time in ms from `Prefer: wait=N` (RFC 7240 §4.3), at most 30 s. Null if the preference is
 *  missing, zero or invalid; RFC 7240 §2 requires servers to ignore invalid preferences. Never throws. */
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
