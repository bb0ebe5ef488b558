import type { Command } from 'commander'
import { recordTable } from '../columns.ts'
import { addOperation } from '../operation-command.ts'
import { installation } from '../places.ts'
import type { Results } from '../results.ts'

type SendingAddress = Results['sending_addresses_list']['data'][number]

/** `postrider address …`. */
export function addAddresses(program: Command): void {
  const address = program.command('address').description('show the IP addresses that mail is sent from')
  addOperation(address, 'list', 'sending_addresses_list', {
    about: 'list sending addresses with pool, reverse DNS, blocklists and organization',
    place: installation,
    text: ({ data }) =>
      recordTable(data, {
        address: 'address',
        hostname: 'hostname',
        pool: 'pool',
        node: ({ node }) => node ?? '',
        'reverse DNS': ({ ptr, forward_confirmed }) => (forward_confirmed ? 'confirmed' : (ptr ?? 'no PTR')),
        blocklists: ({ blocklists }) => (blocklists === null ? 'not asked' : blocklists.join(', ') || 'none'),
        organization: ({ organization_id }) => organization_id ?? '',
        'warm-up': warmupWords,
      }) || 'no sending addresses are configured: [[sending.addresses]]',
  })
}

/** Warm-up of an address → `day 3 of 30: google 61/81, …`, with groups that are not on their plan first; '' without one. */
function warmupWords({ warmup }: SendingAddress): string {
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
