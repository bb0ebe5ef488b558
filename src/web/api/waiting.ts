/** Counts and limits requests that wait for an outcome (`Prefer: wait`, RFC 7240 §4.3). Each occupies a connection and
 *  the memory of its body for up to 30 s. */
export interface Waiting {
  /** Counts a request whose body has `sizeBytes`. Returns a function to call when it no longer waits. Returns null if a
   *  limit of the key, the organization or the server is reached: the request must not wait. */
  begin(caller: Caller, sizeBytes: number): (() => void) | null
  /** Number of waiting requests. */
  underWay(): number
}

interface Caller {
  keyId: string
  organizationId: string
}

/** Maximum numbers of waiting requests, and maximum total bytes of their bodies. */
export interface WaitingLimits {
  perKey: number
  perOrganization: number
  inAll: number
  /** A request with a larger body never waits. */
  organizationBytes: number
  allBytes: number
}

/** Creates Waiting from its limits. */
export function createWaiting(limits: WaitingLimits = LIMITS): Waiting {
  const ofKey = new Map<string, number>()
  const ofOrganization = new Map<string, { count: number; bytes: number }>()
  let count = 0
  let bytes = 0

  const mayBegin = ({ keyId, organizationId }: Caller, sizeBytes: number) => {
    const own = ofOrganization.get(organizationId) ?? NOTHING
    if (count >= limits.inAll || own.count >= limits.perOrganization) return false
    if ((ofKey.get(keyId) ?? 0) >= limits.perKey || bytes + sizeBytes > limits.allBytes) return false
    return own.bytes + sizeBytes <= limits.organizationBytes
  }

  /** Adds (1) or removes (-1) a request. */
  const change = ({ keyId, organizationId }: Caller, sizeBytes: number, sign: 1 | -1) => {
    count += sign
    bytes += sign * sizeBytes
    const own = ofOrganization.get(organizationId) ?? NOTHING
    if (own.count + sign === 0) ofOrganization.delete(organizationId)
    else ofOrganization.set(organizationId, { count: own.count + sign, bytes: own.bytes + sign * sizeBytes })
    const left = (ofKey.get(keyId) ?? 0) + sign
    if (left === 0) ofKey.delete(keyId)
    else ofKey.set(keyId, left)
  }

  return {
    begin: (caller, sizeBytes) => {
      if (!mayBegin(caller, sizeBytes)) return null
      change(caller, sizeBytes, 1)
      let isOver = false
      return () => {
        if (!isOver) change(caller, sizeBytes, -1)
        isOver = true
      }
    },
    underWay: () => count,
  }
}

const NOTHING = { count: 0, bytes: 0 }

/** The counts assume that a worker of an application waits for one message at a time. `allBytes` is a quarter of the 64
 *  MiB budget of request bodies (request-body.ts), because bodies keep their reservation while their request waits. */
const LIMITS: WaitingLimits = {
  perKey: 50,
  perOrganization: 100,
  inAll: 500,
  organizationBytes: 8 * 2 ** 20,
  allBytes: 16 * 2 ** 20,
}

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
