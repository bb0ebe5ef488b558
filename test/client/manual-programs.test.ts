import { afterAll, beforeAll, expect, test } from 'bun:test'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startWith } from '../cli/command.ts'
import { documentationOf } from '../support/documentation.ts'
import { freePort } from '../support/free-port.ts'
import { until } from '../support/patience.ts'
import { describeWith, run } from '../support/real-tools.ts'
import { type RunningTryOut, startTryOut } from '../support/try-out.ts'
import { type Installed, installClient, RUNTIMES } from './installed.ts'
import { PACKAGES } from './languages.ts'

/** Runs the programs of the clients' pages as they stand, against a try-out, with the variables of its `export` line. */

let tryOut: RunningTryOut
let folder: string
const undo: (() => unknown)[] = []

beforeAll(async () => {
  tryOut = await startTryOut()
  folder = mkdtempSync(join(tmpdir(), 'postrider-manual-programs-'))
  cpSync(join(PACKAGES, 'python/postrider'), join(folder, 'postrider'), { recursive: true })
  mkdirSync(join(folder, 'vendor'))
  writeFileSync(join(folder, 'vendor/autoload.php'), `<?php require '${join(PACKAGES, 'php/autoload.php')}';`)
  for (const page of ['python', 'php']) {
    const programs = [...documentationOf(page).matchAll(/^<!-- runs: (\S+) -->\n```\w+\n([\s\S]*?)^```$/gm)]
    for (const [, name = '', code = ''] of programs) writeFileSync(join(folder, name), code)
  }
})
afterAll(async () => {
  for (const step of undo.reverse()) await step()
  await tryOut?.stop()
  rmSync(folder, { recursive: true, force: true })
})

const environment = () => ({ PATH: process.env.PATH!, LANG: 'C.UTF-8', ...tryOut.variables })

/** Simulates a bounce, which is an event. */
async function bounce(): Promise<void> {
  const { API, TEST_KEY } = tryOut.variables
  const sent = await fetch(`${API}/v1/messages/send`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ from: 'a@postrider.example', to: 'bounce@customer.example', subject: 'Hi', text: 'Hi' }),
  })
  expect(sent.status).toBe(202)
}

/** Starts a program that keeps running; `printed` has both streams. */
function keepRunning(command: string[]): { printed: () => string } {
  const child = Bun.spawn(command, { cwd: folder, env: environment(), stdout: 'pipe', stderr: 'pipe' })
  undo.push(async () => {
    child.kill('SIGKILL')
    await child.exited
  })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) {
    void (async () => {
      const decoder = new TextDecoder()
      for await (const part of stream) text += decoder.decode(part, { stream: true })
    })()
  }
  return { printed: () => text }
}

const PYTHON = ['/usr/bin/python3', '-B']
const SENT = /^delivered 250 .+\n(msg_\w+ delivered\n)+to: .+\n$/

for (const { name, tools, first, follow, hook } of [
  {
    name: 'Python',
    tools: ['flask'],
    first: [...PYTHON, 'shop.py'],
    follow: [...PYTHON, 'follow.py'],
    hook: (port: number) => [...PYTHON, '-m', 'flask', '--app', 'hook', 'run', '--port', String(port)],
  },
  {
    name: 'PHP',
    tools: ['php', 'php-curl'],
    first: ['php', 'shop.php'],
    follow: ['php', 'follow.php'],
    hook: (port: number) => ['php', '-S', `127.0.0.1:${port}`, 'hook.php'],
  },
]) {
  describeWith(tools, `the page of the client in ${name}`, () => {
    test('has a first program that sends, waits, lists and reports errors', async () => {
      const { exitCode, output } = await run(first, { cwd: folder, env: environment() })
      expect([exitCode, output]).toEqual([0, expect.stringMatching(SENT)])
    })

    test('has a program that follows events', async () => {
      const { printed } = keepRunning(follow)
      await until('the event', async () => {
        await bounce()
        await Bun.sleep(100)
        return /^msg_\w+$/m.test(printed())
      })
    })

    test('has a webhook endpoint that accepts what listen posts, and answers 401 to others', async () => {
      const port = await freePort()
      const { printed } = keepRunning(hook(port))
      const url = `http://127.0.0.1:${port}/hook`
      const post = () =>
        fetch(url, { method: 'POST', body: '{"type":"forged"}' }).then(
          ({ status }) => status,
          () => 0,
        )
      await until('the endpoint', async () => (await post()) === 401)
      await bounce()
      const to = ['--forward-to', url, '--secret', tryOut.variables.WEBHOOK_SECRET]
      const listening = await startWith(tryOut.variables, 'listen', '--after', '', '--events', 'message.bounced', ...to)
      undo.push(() => listening.kill('SIGKILL'))
      for (let count = 1; !(await listening.lines(count)).some((line) => line.includes('→ 204')); count++);
      await until('the event', () => printed().includes('message.bounced'))
      expect(printed()).not.toContain('forged')
    })
  })
}

for (const [runtime, command] of RUNTIMES) {
  test(`the first program of the TypeScript page runs on ${runtime}`, async () => {
    const installed: Installed = installClient()
    try {
      const [, code = ''] =
        /^<!-- runs: shop.mjs -->\n```js\n([\s\S]*?)^```$/m.exec(documentationOf('typescript')) ?? []
      writeFileSync(join(installed.folder, 'shop.mjs'), code)
      const ran = await run([...command, 'shop.mjs'], { cwd: installed.folder, env: environment() })
      expect(ran).toEqual({ exitCode: 0, output: expect.stringMatching(/^delivered 250 .+\n(msg_\w+ delivered\n)+/) })
    } finally {
      installed.remove()
    }
  })
}
