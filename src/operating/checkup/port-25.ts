import type { Config } from '../../config/load.ts'
import type { WallClock } from '../../os/clock.ts'
import type { Random } from '../../os/random.ts'
import { createNetworkFacts } from '../health/network-facts.ts'
import { checkPort25 } from '../health/port-25.ts'
import { openCheckDeps } from './deps.ts'
import { installationOf } from './installation.ts'

/** Whether no mail server of the large mailbox providers can be reached. False if `health.look_outside` is off or DNS does
 *  not respond, because then nothing is known. */
export async function isPort25Blocked(config: Config, deps: { clock: WallClock; random: Random }): Promise<boolean> {
  const { deps: checks, close } = openCheckDeps(config, { ...deps, held: null })
  try {
    const installation = await installationOf(config, null, [], { certificates: null, hosts: [] })
    const { status } = await checkPort25(installation, checks, createNetworkFacts(installation, checks))
    return status === 'fail'
  } finally {
    close()
  }
}
