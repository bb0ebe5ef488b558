/** Requests that wait for a result (`Prefer: wait`). Each holds a connection and its body for up to 30 s, so their
 *  number and bytes are limited. */
export interface Waiting {
  /** A request with a body of `sizeBytes` starts waiting → function that ends it, to be called once. Null: the limit
   *  of the key, its organization or the server is reached, and the request gets its response immediately. */
  begin(caller: Caller, sizeBytes: number): (() => void) | null
  underWay(): number
}

interface Caller {
  keyId: string
  organizationId: string
}

export interface WaitingLimits {
  perKey: number
  perOrganization: number
  inAll: number
  /** Total body bytes; a larger body never waits. */
  organizationBytes: number
  allBytes: number
}

/** Limits → Waiting, with nothing waiting. */
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

  /** `sign` 1 starts, -1 ends. */
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

/** An application worker waits for one message at a time. Waiting bodies keep their memory reservation
 *  (request-body.ts, 64 MiB in total), of which they may use a quarter. */
const LIMITS: WaitingLimits = {
  perKey: 50,
  perOrganization: 100,
  inAll: 500,
  organizationBytes: 8 * 2 ** 20,
  allBytes: 16 * 2 ** 20,
}
