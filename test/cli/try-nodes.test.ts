import { afterEach, beforeAll, expect, test } from 'bun:test'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { buildOnce } from '../support/build-once.ts'
import { describeWithPostgres } from '../support/postgres.ts'

const SCRIPT = join(import.meta.dir, '../../scripts/try-nodes.ts')
const undo: (() => unknown)[] = []
afterEach(async () => {
  for (const step of undo.splice(0)) await step()
})

/** Starts the script. `untilPrinted` resolves with the output when it contains `part`, `ended` at the end. */
function tryNodes(args: string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [SCRIPT, ...args], { env: { ...process.env, NO_COLOR: '1', ...env } })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk
    })
  }
  const ended = new Promise<{ code: number | null; output: string }>((resolve) => {
    child.on('close', (code) => resolve({ code, output }))
  })
  undo.push(async () => {
    child.kill('SIGINT') // it ends its nodes and its database
    await ended
  })
  const untilPrinted = (part: string) =>
    new Promise<string>((resolve) => {
      child.stdout.on('data', () => output.includes(part) && resolve(output))
      child.on('close', () => resolve(output))
    })
  return { untilPrinted, ended, kill: (signal: NodeJS.Signals) => child.kill(signal) }
}

describeWithPostgres('try with several nodes', () => {
  beforeAll(buildOnce)

  test('--once sends through both nodes, kills one and shows the other delivering everything', async () => {
    const { code, output } = await tryNodes(['--nodes', '2', '--once']).ended
    const passed = output.split('\n').filter((line) => line.startsWith('  ✓ '))
    const names = passed.map((line) => line.slice(4, 15).trim())
    expect(names).toEqual(['ready', 'together', 'node-1', 'node-2', 'scheduled', 'killed', 'accepted', 'taken over'])
    expect(output).toContain('20 delivered, events posted; those of node-1 waited 3 s')
    expect(output).not.toContain('✗')
    expect(code).toBe(0)
  })

  test('the nodes keep running until Ctrl-C, the killed one again, and leave no process behind', async () => {
    const { untilPrinted, ended, kill } = tryNodes(['--nodes=2'])
    const output = await untilPrinted('Press Ctrl-C')
    const processes = [...output.matchAll(/process (\d+)$/gm)].slice(-2).map(([, pid]) => Number(pid))
    for (const url of output.match(/http:\S+\/v1(?= {2})/g)!) {
      const { status } = await fetch(new URL('/readyz', url))
      expect(status).toBe(200)
    }
    for (const pid of processes) expect(() => process.kill(pid, 0)).not.toThrow()
    kill('SIGINT')
    expect((await ended).code).toBe(130)
    for (const pid of processes) expect(() => process.kill(pid, 0)).toThrow('ESRCH')
  })

  test('a number of nodes that makes no sense is refused', async () => {
    for (const number of ['1', '6', 'two']) {
      const output = '--nodes must be a number from 2 to 5.\n'
      expect(await tryNodes(['--nodes', number]).ended).toEqual({ code: 2, output })
    }
  })
})

test('without the programs of PostgreSQL, several nodes name the package to install', async () => {
  const { code, output } = await tryNodes(['--nodes', '2'], { POSTGRES_PROGRAMS: '/no/such/folder' }).ended
  expect(code).toBe(1)
  expect(output).toContain('apt-get install postgresql')
})
