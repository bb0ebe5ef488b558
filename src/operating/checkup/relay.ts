import type { Config } from '../../config/load.ts'
import { relayPasswordsOf } from '../../config/load.ts'
import type { Resolver } from '../../net/dns/resolver.ts'
import { findAddresses } from '../../sending/outbound/mx.ts'
import { type Greeted, greet } from '../../sending/outbound/smtp/greet.ts'
import { relayPeer } from '../../sending/outbound/smtp/peer.ts'
import { relaysOf } from '../../server/relays.ts'
import type { Greeting } from '../health/deps.ts'

/** Connects to a relay of the config as for a mail, with TLS and login, and offers no mail. `smarthost` is the name of
 *  delivery.smarthost. Rejects if its password cannot be read. */
export async function greetRelay(
  config: Config,
  name: string,
  { resolver, timeoutMs }: { resolver: Resolver; timeoutMs: number },
): Promise<Greeting> {
  const relay = relaysOf(config, relayPasswordsOf(config)).find((each) => each.name === name)
  const [address] = relay === undefined ? [] : (await findAddresses(relay.host, resolver, () => true)).addresses
  if (relay === undefined || address === undefined) return NO_ADDRESS
  const { hostname, delivery } = config
  return greet(relayPeer(relay, address, { demand: 'none' }), {
    hostname,
    sourceAddress: delivery.sourceAddress,
    timeoutMs,
  })
}

const NO_ADDRESS: Greeted = {
  isReached: false,
  problem: 'DNS has no address for it',
  stage: null,
  tls: null,
  words: '',
  durationMs: 0,
}
