/** A node of its own, to be killed or stopped: opens the store, claims everything that it can, prints the IDs of the
 *  messages, one line each, and continues until it is ended. With a fifth argument, it prints instead whether it leads,
 *  at each change. Arguments: URL, data directory, time, takeover time. */
import { openPostgresStore } from '../../../src/storage/postgres/open.ts'
import { claimDue } from '../../support/claim.ts'

const [url = '', dataDir = '', now = '', takeoverMs = '', what = ''] = process.argv.slice(2)
const store = await openPostgresStore({
  url,
  dataDir,
  now: Number(now),
  clock: () => Number(now),
  node: { name: 'child', takeoverMs: Number(takeoverMs), onEnded: () => process.exit(4) },
})
console.log('ready')
for (let led: boolean | null = null; what === 'leads'; await Bun.sleep(5)) {
  const leads = store.leases.leads()
  if (leads !== led) console.log(`leads ${leads}`)
  led = leads
}
for (;;) {
  const claims = await claimDue(store.deliveries, { now: Number(now), limit: 100, worker: 'child' }).catch(() => [])
  for (const { message } of claims) console.log(message.id)
  await Bun.sleep(20)
}
