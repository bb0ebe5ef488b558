import { chmodSync, cpSync, existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import type { Figure } from './figures.ts'
import { type CleanMachine, startCleanMachine } from './machine.ts'
import type { Part } from './part.ts'
import { start } from './process.ts'

/** The way of a newcomer on a clean Debian without network, with the commands that the manual and Postrider print: from a
 *  release folder (`--release`, dist/packages by default) to a delivered message, and to the dashboard. install.sh verifies a
 *  signed release. Making and starting the machine, and starting the browser, are not measured. */
export const install: Part = {
  name: 'install',
  beside: async ({ release, data, scratch, note }) => {
    const folder = release ?? join(import.meta.dir, '../../dist/packages')
    if (!existsSync(join(folder, 'SHA256SUMS'))) throw new Error(`${folder} is no release; run scripts/package.ts`)
    for (const way of [byScript, byPackage]) {
      const machine = await startCleanMachine(data ?? scratch)
      try {
        cpSync(folder, join(machine.root, 'release'), { recursive: true })
        if (!existsSync(join(folder, 'install.sh'))) cpSync(SCRIPT, join(machine.root, 'release/install.sh'))
        for (const [figure, seconds] of await way(machine, scratch)) note(null, figure, seconds)
      } finally {
        await machine.stop()
      }
    }
  },
}

type Measured = [Figure, number][]
const SCRIPT = join(import.meta.dir, '../install.sh')

/** install.sh → a message by the try-out, then one by a server of its own through the mail server of the machine. */
async function byScript(machine: CleanMachine): Promise<Measured> {
  const [bun, program] = [process.execPath, join(import.meta.dir, 'programs/sink.ts')]
  const [enter, ...namespaces] = machine.inItsNetwork
  const sink = await start(enter!, [...namespaces, bun, program])
  const isSigned = existsSync(join(machine.root, 'release/SHA256SUMS.minisig'))
  const elapsed = stopwatch(machine)
  await machine.run(`sh /release/install.sh --from /release ${isSigned ? '' : '--no-verify'}`)
  const installed = elapsed()
  expectText(await machine.run('postrider try --once'), 'All stages passed')
  const tried = elapsed()
  const smarthost = `smtp://127.0.0.1:${sink.first.port}`
  const report = await machine.run(
    `postrider init --domain example.com --hostname mail.example.com --smarthost ${smarthost}`,
  )
  await machine.run(`printf '[sending]\\nrequire_verified_domain = false\\n' >> /etc/postrider/config.toml`)
  await machine.run(`set -e\n${stepsIn(report)}`)
  const send =
    'postrider send --from hello@example.com --to you@elsewhere.example --subject Hello --text Hello --follow'
  expectText(await machine.run(send), 'delivered')
  const delivered = elapsed()
  if ((await sink.ask()).mails !== 1) throw new Error('the mail server has no mail')
  await sink.stop()
  return [
    [INSTALLED, installed.seconds],
    [TRIED, tried.seconds],
    [DELIVERED, installed.seconds + delivered.seconds - tried.seconds],
    [cpuOf(DELIVERED), installed.cpu + delivered.cpu - tried.cpu],
  ]
}

/** The Debian package → the dashboard in a browser that is signed in. */
async function byPackage(machine: CleanMachine, scratch: string): Promise<Measured> {
  const browser = await chromium.launch({ executablePath: browserIn(machine, scratch), args: ['--no-sandbox'] })
  const page = await browser.newPage()
  const deb = readdirSync(join(machine.root, 'release')).find((name) => name.endsWith(`_${ARCHITECTURE}.deb`))
  const elapsed = stopwatch(machine)
  await machine.run(`apt-get install -y /release/${deb}`)
  await machine.run('postrider init --domain example.com --hostname mail.example.com')
  await machine.run('systemctl enable --now postrider')
  const [link] = (await machine.run('postrider login-link')).split('\n')
  await page.goto(link!)
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  const signedIn = elapsed()
  await browser.close()
  return [
    [SIGNED_IN, signedIn.seconds],
    [cpuOf(SIGNED_IN), signedIn.cpu],
  ]
}

const ARCHITECTURE = process.arch === 'arm64' ? 'arm64' : 'amd64'

/** A Chromium in the network of the machine → its path. */
function browserIn({ inItsNetwork }: CleanMachine, scratch: string): string {
  const path = join(scratch, 'chromium-inside')
  writeFileSync(path, `#!/bin/sh\nexec ${inItsNetwork.join(' ')} chromium "$@"\n`)
  chmodSync(path, 0o755)
  return path
}

/** The report of `init` → the commands of its second step. */
function stepsIn(report: string): string {
  const [, steps] = /^2\. Start the server.*\n((?: {3}.*\n)+)/m.exec(report) ?? []
  if (steps === undefined) throw new Error(`init printed no steps: ${report}`)
  return steps
}

function expectText(printed: string, text: string): void {
  if (!printed.includes(text)) throw new Error(`expected ${text}, printed ${printed}`)
}

/** → a function that returns the seconds since, and the CPU seconds that the machine used meanwhile. */
function stopwatch(machine: CleanMachine): () => { seconds: number; cpu: number } {
  const startedAt = performance.now()
  const usedBefore = machine.cpuSeconds()
  return () => ({
    seconds: (performance.now() - startedAt) / 1000,
    cpu: machine.cpuSeconds() - usedBefore,
  })
}

const cpuOf = ({ what }: Figure): Figure => ({ what: `${what}, CPU time of the machine`, unit: 's' })
const INSTALLED: Figure = { what: 'install.sh to an installed program', unit: 's' }
const TRIED: Figure = { what: 'install.sh to a message delivered by the try-out', unit: 's', goal: { atMost: 60 } }
const DELIVERED: Figure = {
  what: 'install.sh to a message delivered by a server under systemd, without DNS',
  unit: 's',
  goal: { atMost: 60 },
}
const SIGNED_IN: Figure = { what: 'Debian package to a signed-in dashboard', unit: 's', goal: { atMost: 20 } }
