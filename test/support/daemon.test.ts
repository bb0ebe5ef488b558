import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isRunning, startDaemon } from './daemon.ts'
import { until } from './patience.ts'

/** Runs tests of a file in another process → what Bun printed. */
async function runFile(text: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'postrider-daemon-'))
  const file = join(folder, 'a.test.ts')
  writeFileSync(
    file,
    `import { isRunning, startDaemon } from '${import.meta.dir}/daemon.ts'\nconst folder = '${folder}'\n${text}`,
  )
  const child = Bun.spawn([process.execPath, 'test', '--timeout=500', file], { stderr: 'pipe' })
  const printed = await new Response(child.stderr).text()
  rmSync(folder, { recursive: true })
  return printed
}

test('a daemon outlives a test that times out, and ends with its test process', async () => {
  const printed = await runFile(`
    import { expect, test } from 'bun:test'
    let daemon, child
    test('hangs', () => {
      daemon = startDaemon(['sleep', '1000'], { folder })
      console.error('pid', daemon.pid)
      child = Bun.spawn(['sleep', '1000'])
      return new Promise(() => {})
    })
    test('the child is gone', async () => expect(await child.exited).not.toBe(0))
    test('the daemon runs', () => expect(daemon.isRunning()).toBe(true))
    test('dies', () => process.kill(process.pid, 'SIGKILL'))
  `)
  expect(printed.match(/\((?:pass|fail)\) [^\n[]+/g)).toEqual([
    '(fail) hangs ',
    '(pass) the child is gone ',
    '(pass) the daemon runs ',
  ])
  const pid = Number(/pid (\d+)/.exec(printed)?.[1])
  await until('the daemon to end', () => !isRunning(pid))
})

test('the log has both streams, and a signal ends the daemon', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'postrider-daemon-'))
  const daemon = startDaemon(['sh', '-c', 'echo out; echo error >&2; exec sleep 1000'], { folder })
  await until('both lines', () => daemon.log() === 'out\nerror\n')
  expect(daemon.isRunning()).toBe(true)
  await daemon.end('SIGTERM')
  expect(daemon.isRunning()).toBe(false)
  rmSync(folder, { recursive: true })
})
