import type { Store } from '../../storage/store.ts'
import { CLUSTER } from './nodes.ts'
import type { Registry } from './registry.ts'

/** Gauges of domains whose new DKIM keys wait for DNS, from the last count. */
export function gaugeRotations(
  registry: Registry,
  { domains }: Pick<Store, 'domains'>,
  now: () => number,
): { refresh(): Promise<void> } {
  let found: Awaited<ReturnType<typeof domains.countRotating>> | null = null
  const gauge = (name: string, help: string, of: (count: NonNullable<typeof found>) => number) =>
    registry.gauges(name, help, ['scope'], () => (found === null ? [] : [{ values: [CLUSTER], value: of(found) }]))
  gauge('postrider_dkim_rotations', 'Domains whose new DKIM keys wait for DNS.', (count) => count.domains)
  gauge('postrider_dkim_rotation_oldest_seconds', 'Age of the oldest DKIM keys that wait for DNS.', ({ oldestAt }) =>
    oldestAt === null ? 0 : Math.max(0, now() - oldestAt) / 1000,
  )
  return {
    refresh: async () => {
      found = await domains.countRotating().catch(() => null)
    },
  }
}
