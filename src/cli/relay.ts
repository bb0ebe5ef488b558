import { SMARTHOST } from '../model/relay.ts'
import { openCheckDeps } from '../operating/checkup/deps.ts'
import { checkRelay } from '../operating/health/relays.ts'
import { systemClock } from '../os/clock.ts'
import { systemRandom } from '../os/random.ts'
import { requireConfig } from './cli-context.ts'
import { EXIT, type ExitCode, usageFault } from './failure.ts'
import { findings } from './findings.ts'
import { colorsFor, print, printJson } from './print.ts'

/** Connects to a relay, logs in, and prints the dialogue and what it means. Returns 0 if it would accept mail, else 1. Sends
 *  no mail. */
export async function testRelay(
  name: string,
  { config: file, json }: { config: string; json?: true },
): Promise<ExitCode> {
  const config = requireConfig(file)
  const { smarthost } = config.delivery
  const relays = [...config.relays, ...(smarthost === null ? [] : [{ ...smarthost, name: SMARTHOST }])]
  const relay = relays.find((each) => each.name === name)
  if (relay === undefined) {
    const names = relays.map((each) => each.name).join(', ')
    throw usageFault(`unknown relay "${name}". ${names === '' ? 'None is configured: [[relays]]' : `Known: ${names}`}`)
  }
  const { deps, close } = openCheckDeps(config, { clock: systemClock, random: systemRandom, held: null })
  try {
    const greeting = await deps.greetRelay(name)
    const verdict = await checkRelay(relay, { greetRelay: async () => greeting })
    if (json) printJson({ ok: verdict.status === 'pass', ...verdict, transcript: greeting.words })
    else print(`${greeting.words}\n${findings([{ name: 'relay', ...verdict }], colorsFor())}`)
    return verdict.status === 'pass' ? EXIT.done : EXIT.failed
  } finally {
    close()
  }
}
