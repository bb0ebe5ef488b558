/** A day of mail on the real server, and the dashboard's overview of it → src/web/manual/images/dashboard.png, which README and
 *  manual show: `bun scripts/screenshot.ts`. Needs Chromium. Exit code 1 when the picture is too large. */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { startDashboard } from '../test/dashboard/setup.ts'

const FILE = join(import.meta.dir, '../src/web/manual/images/dashboard.png')
const MAX_BYTES = 100_000
const HOURS = 22
const HOUR_MS = 3_600_000
const SUBJECTS = ['Your order', 'Your receipt', 'Reset your password', 'Your parcel is on its way', 'Sign in']

const board = await startDashboard()
try {
  for (let hour = 0; hour < HOURS; hour++) {
    await board.server.clock.advance(HOUR_MS)
    const count = Math.round(60 + 45 * Math.sin((hour + 8) / 4) + ((hour * 7) % 11))
    const messages = Array.from({ length: count }, (_, n) => ({
      from: 'Shop <hello@sender.example>',
      to: `${nameOf(n, hour)}@one.remote.example`,
      subject: SUBJECTS[n % SUBJECTS.length],
      text: 'Hello',
    }))
    await board.server.ask('POST', '/v1/messages/batch', { messages })
    if (hour < HOURS - 1) await untilSent()
    else await Bun.sleep(5000) // some of it is deferred
  }
  const page = await board.open('/', { width: 1200, height: 700, theme: 'light' })
  await page.locator('.plot canvas').last().waitFor()
  await page.waitForTimeout(1000)
  await page.screenshot({ path: FILE })
} finally {
  await board.close()
}

const { size } = statSync(FILE)
console.log(`${FILE}: ${size} bytes`)
process.exit(size > MAX_BYTES ? 1 : 0)

/** The recipients' server refuses `nobody` and defers `later` (test/dashboard/setup.ts). */
function nameOf(n: number, hour: number): string {
  if (hour === 14 && n === 0) return 'nobody'
  return hour === HOURS - 1 && n < 3 ? 'later' : `customer${n}+${hour}`
}

/** Until every delivery was tried. */
async function untilSent(): Promise<void> {
  for (let tries = 0; tries < 600; tries++) {
    const { data } = await board.server.read('/v1/messages?status=queued&limit=1')
    if (data.length === 0) return
    await Bun.sleep(100)
  }
  throw new Error('mail was queued for more than a minute')
}
