import type { OwnServer } from '../../src/domains/records.ts'

/** A server with this hostname, without a policy, sending addresses or zones but those given. */
export function ownServer(hostname: string, more: Partial<OwnServer> = {}): OwnServer {
  return { hostname, mtaSts: null, sendingAddresses: [], zone: null, providerZones: [], ...more }
}
