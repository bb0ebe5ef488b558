import { afterAll, beforeAll, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { documentationOf } from '../support/documentation.ts'
import { freePort } from '../support/free-port.ts'
import { until } from '../support/patience.ts'
import { run } from '../support/real-tools.ts'
import { type RunningTryOut, startTryOut } from '../support/try-out.ts'
import { type Installed, installClient, ROOT } from './installed.ts'

/** Runs the program and the answer of help-desk.md as they stand, against a try-out that forwards to the program. */

const PAGE = documentationOf('help-desk')
let installed: Installed
let tryOut: RunningTryOut
let port: number
beforeAll(async () => {
  installed = installClient()
  for (const name of ['help-desk.ts', 'answer.sh']) writeFileSync(join(installed.folder, name), exampleOf(name))
  port = await freePort()
  tryOut = await startTryOut('--forward-to', `http://127.0.0.1:${port}`)
})
afterAll(async () => {
  await tryOut?.stop()
  installed?.remove()
})

/** The example that the page saves under a name. */
function exampleOf(name: string): string {
  const code = PAGE.split(`<!-- runs: ${name} -->\n`)[1]
    ?.split('```')[1]
    ?.replace(/^\w+\n/, '')
  if (code === undefined) throw new Error(`the page has no ${name}`)
  return code
}

const environment = () => ({ PATH: process.env.PATH!, ...tryOut.variables, PORT: String(port) })

/** Mail from a stranger, over SMTP. */
async function write(to: string, lines: string[]): Promise<void> {
  const mail = ['From: Bob <bob@customer.example>', `To: ${to}`, ...lines, ''].join('\r\n')
  const curl = ['curl', '-s', `smtp://${tryOut.variables.INBOUND}`, '--mail-from', 'bob@customer.example']
  const sending = Bun.spawn([...curl, '--mail-rcpt', to, '-T', '-'], { stdin: Buffer.from(mail) })
  expect(await sending.exited).toBe(0)
}

test('the program of the page has at most forty lines without imports and blank lines, and compiles in strict mode', () => {
  const lines = exampleOf('help-desk.ts').split('\n')
  expect(lines.filter((line) => line !== '' && !line.startsWith('import ')).length).toBeLessThanOrEqual(40)
  const compiler = join(ROOT, 'node_modules/typescript/bin/tsc')
  const options = ['--strict', '--noEmit', '--target', 'es2022', '--module', 'nodenext', '--skipLibCheck']
  const types = ['--typeRoots', join(ROOT, 'node_modules/@types'), '--types', 'node']
  const compiled = Bun.spawnSync([process.execPath, compiler, ...options, ...types, 'help-desk.ts'], {
    cwd: installed.folder,
  })
  expect(compiled.stdout.toString()).toBe('')
})

test('it sends a receipt, and files the answer under the order; other mail is a new question', async () => {
  const child = Bun.spawn([process.execPath, 'help-desk.ts'], {
    cwd: installed.folder,
    env: environment(),
    stdout: 'pipe',
    stderr: 'inherit',
  })
  try {
    let printed = ''
    const reading = (async () => {
      const decoder = new TextDecoder()
      for await (const part of child.stdout) printed += decoder.decode(part, { stream: true })
    })()
    await until('the receipt', () => /^receipt msg_\w+ for order 1001$/m.test(printed))
    const answered = await run(['sh', '-e', 'answer.sh'], { cwd: installed.folder, env: environment() })
    expect(answered).toEqual({ exitCode: 0, output: '' })
    await until('the answer', () => printed.includes('order 1001: Where is my parcel?\n'))

    const away = ['Subject: Away', 'Auto-Submitted: auto-replied', '', 'I am away.']
    await write('help@postrider.example', away)
    await write('help@postrider.example', ['Subject: Do you sell tea?', '', 'I like tea.'])
    await until('the question', () => printed.includes('new question from bob@customer.example: Do you sell tea?\n'))
    expect(printed).not.toContain('Away')
    const forged = await fetch(`http://127.0.0.1:${port}`, { method: 'POST', body: '{"event":"inbound"}' })
    expect(forged.status).toBe(401)
    child.kill('SIGKILL')
    await reading
  } finally {
    child.kill('SIGKILL')
    await child.exited
  }
})
