/** A server with a month of real-looking mail, to look at pages:
 *
 *  bun scripts/month.ts fill FOLDER               writes it (under two minutes)
 *  bun scripts/month.ts serve FOLDER [PORT]       runs a server on it until Ctrl+C, by default at port 8025
 *
 *  It prints how to sign in. Nothing leaves the machine. */

import { packedManual } from '../src/cli/manual/packed.ts'
import { systemClock } from '../src/os/clock.ts'
import { createLog } from '../src/os/log.ts'
import { startServer } from '../src/server/server.ts'
import { fill } from './month/fill.ts'
import { PASSWORD, publish } from './month/organization.ts'
import { configOf, startWorld } from './month/world.ts'

const [command, folder, port = '8025'] = process.argv.slice(2)
if (folder === undefined || (command !== 'fill' && command !== 'serve')) {
  console.error('usage: bun scripts/month.ts fill|serve FOLDER [PORT]')
  process.exit(2)
}
if (command === 'fill') {
  const startedAt = performance.now()
  const count = await fill(folder)
  console.log(`${folder}: ${count} messages in ${Math.round((performance.now() - startedAt) / 1000)} s`)
  process.exit(0)
}
const world = await startWorld(folder)
const { config, settings } = configOf(folder, world, `127.0.0.1:${port}`)
const server = await startServer(config, {
  log: createLog({ clock: systemClock, level: 'warn', format: 'text' }),
  settings,
  manual: packedManual,
})
for (const { id } of await server.store.organizations.list()) {
  const { records } = await server.store.domains.list(id, { limit: 100, after: null })
  for (const domain of records) publish(world, domain)
}
console.log(
  `http://${server.listening.http}/dashboard, olivia@northwind.example (operator), ana@ (owner), dev@, kai@ (viewer); password: ${PASSWORD}`,
)
await new Promise((resolve) => process.once('SIGINT', resolve).once('SIGTERM', resolve))
await server.stop()
await world.stop()
process.exit(0)
