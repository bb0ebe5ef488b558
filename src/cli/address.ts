import { requireConfig, withStore } from './cli-context.ts'
import { print, printJson, table } from './print.ts'
import type { Results } from './results.ts'

/** Prints the configured sending addresses with their DNS and organization. */
export async function listAddresses({ config: file, json }: { config: string; json?: true }): Promise<void> {
  await withStore(requireConfig(file), async ({ operator }) => {
    const { data } = await operator.run('sending_addresses_list', { organizationId: '' })
    if (json) return printJson({ data })
    const rows = data.map(({ address, hostname, pool, node, ptr, forward_confirmed, blocklists, ...rest }) => [
      address,
      hostname,
      pool,
      node ?? '',
      forward_confirmed ? 'confirmed' : (ptr ?? 'no PTR'),
      blocklists === null ? 'not asked' : blocklists.join(', ') || 'none',
      rest.organization_id ?? '',
      warmupWords(rest.warmup),
    ])
    const heads = ['address', 'hostname', 'pool', 'node', 'reverse DNS', 'blocklists', 'organization', 'warm-up']
    print(table(heads, rows) || 'no sending addresses are configured: [[sending.addresses]]')
  })
}

/** Warm-up of an address → `day 3 of 30: google 61/81, …`, with groups that are not on their plan first; '' without one. */
function warmupWords(warmup: Results['sending_addresses_list']['data'][number]['warmup']): string {
  if (warmup === null) return ''
  const { day, plan_days, started_on } = warmup
  if (day === 0) return `from ${started_on}`
  const open = warmup.groups.filter(({ state }) => state !== 'finished')
  if (open.length === 0) return 'finished'
  const groups = open
    .toSorted((a, b) => Number(a.state === 'on_plan') - Number(b.state === 'on_plan'))
    .map(({ group, state, sent, allowance }) => {
      const why = state === 'on_plan' ? '' : ` ${state.replace('_', ' ')}`
      return `${group} ${sent}/${allowance}${why}`
    })
  return `day ${day} of ${plan_days}: ${groups.join(', ')}`
}
