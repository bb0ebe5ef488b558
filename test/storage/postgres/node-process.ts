/** A node of its own, to be killed or stopped: opens the store, claims everything that it can, prints the IDs of the
 *  messages, one line each, and continues until it is ended. Arguments: URL, data directory, time, takeover time. */
import { openPostgresStore } from '../../../src/storage/postgres/open.ts'
import { claimDue } from '../../support/claim.ts'

const [url = '', dataDir = '', now = '', takeoverMs = ''] = process.argv.slice(2)
const store = await openPostgresStore({
  url,
  dataDir,
  now: Number(now),
  clock: () => Number(now),
  node: { name: 'child', takeoverMs: Number(takeoverMs), onEnded: () => process.exit(4) },
})
console.log('ready')
for (;;) {
  const claims = await claimDue(store.deliveries, { now: Number(now), limit: 100, worker: 'child' }).catch(() => [])
  for (const { message } of claims) console.log(message.id)
  await Bun.sleep(20)
}
