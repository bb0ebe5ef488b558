import { requireConfig, withStore } from './cli-context.ts'
import { print, printJson, table } from './print.ts'

/** Prints the configured sending addresses with their DNS and organization. */
export async function listAddresses({ config: file, json }: { config: string; json?: true }): Promise<void> {
  await withStore(requireConfig(file), async ({ operator }) => {
    const { data } = await operator.run('sending_addresses_list', { organizationId: '' })
    if (json) return printJson({ data })
    const rows = data.map(({ address, hostname, pool, node, ptr, forward_confirmed, blocklists, organization_id }) => [
      address,
      hostname,
      pool,
      node ?? '',
      forward_confirmed ? 'confirmed' : (ptr ?? 'no PTR'),
      blocklists === null ? 'not asked' : blocklists.join(', ') || 'none',
      organization_id ?? '',
    ])
    const heads = ['address', 'hostname', 'pool', 'node', 'reverse DNS', 'blocklists', 'organization']
    print(table(heads, rows) || 'no sending addresses are configured: [[sending.addresses]]')
  })
}
