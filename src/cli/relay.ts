import { openCheckDeps } from '../checkup/deps.ts'
import { checkRelay } from '../health/relays.ts'
import { SMARTHOST } from '../model/relay.ts'
import { systemClock } from '../os/clock.ts'
import { systemRandom } from '../os/random.ts'
import { requireConfig, withStore } from './cli-context.ts'
import { EXIT, type ExitCode, usageFault } from './failure.ts'
import { findings } from './findings.ts'
import { colorsFor, print, printJson, table } from './print.ts'

/** Prints the configured relays with their use in this month. */
export async function listRelays({ config: file, json }: { config: string; json?: true }): Promise<void> {
  await withStore(requireConfig(file), async ({ operator }) => {
    const { data } = await operator.run('relays_list', { organizationId: '' })
    if (json) return printJson({ data })
    const rows = data.map(({ name, host, port, month, sent, failed, cost, last_error }) => [
      name,
      `${host}:${port}`,
      month,
      String(sent),
      String(failed),
      cost === null ? '' : String(cost),
      last_error === null ? '' : `${last_error.at} ${last_error.message}`,
    ])
    const heads = ['name', 'server', 'month', 'sent', 'failed', 'cost', 'last error']
    print(table(heads, rows) || 'no relays are configured: [[relays]]')
  })
}

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
    else
      print(
        `${greeting.words}\n${findings([{ name: 'relay', ...verdict }], colorsFor(process.env, process.stdout.isTTY))}`,
      )
    return verdict.status === 'pass' ? EXIT.done : EXIT.failed
  } finally {
    close()
  }
}
