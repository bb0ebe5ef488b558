import { afterEach, expect, test } from 'bun:test'

const children: Bun.Subprocess[] = []
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
})

/** A child process that prints its steps line by line; `terminate` ends when `goOn` does. */
function start(goOn: string) {
  const script = `
    import { onSignals } from ${JSON.stringify(new URL('./signals.ts', import.meta.url).href)}
    const say = (word) => process.stdout.write(word + '\\n')
    onSignals({
      terminate: async () => { say('terminate'); await (${goOn}) },
      reload: () => say('reload'),
      exit: (code) => process.exit(code),
    })
    setInterval(() => {}, 1000)
    say('ready')`
  const child = Bun.spawn([process.execPath, '-e', script], { stdout: 'pipe', stderr: 'inherit' })
  children.push(child)
  const reader = child.stdout.getReader()
  let text = ''
  const until = async (word: string) => {
    while (!text.includes(word)) {
      const { value, done } = await reader.read()
      if (done) throw new Error(`ended before it said ${word}`)
      text += new TextDecoder().decode(value)
    }
  }
  return { child, until }
}

test.each(['SIGTERM', 'SIGINT'] as const)('the first %s drains and ends with 0', async (signal) => {
  const { child, until } = start('Promise.resolve()')
  await until('ready')
  child.kill(signal)
  expect(await child.exited).toBe(0)
})

test.each([
  ['SIGTERM', 143],
  ['SIGINT', 130],
] as const)('a second signal, %s, ends at once with %p', async (signal, code) => {
  const { child, until } = start('new Promise(() => {})')
  await until('ready')
  child.kill('SIGTERM')
  await until('terminate')
  child.kill(signal)
  expect(await child.exited).toBe(code)
})

test('SIGHUP reloads and continues', async () => {
  const { child, until } = start('Promise.resolve()')
  await until('ready')
  child.kill('SIGHUP')
  await until('reload')
  child.kill('SIGTERM')
  expect(await child.exited).toBe(0)
})

test('a failed end sets the exit code', async () => {
  const { child, until } = start('Promise.reject(new Error("no"))')
  await until('ready')
  child.kill('SIGTERM')
  expect(await child.exited).toBe(1)
})

test('the handlers can be removed again', async () => {
  const { onSignals } = await import('./signals.ts')
  const before = process.listenerCount('SIGHUP')
  const remove = onSignals({ terminate: async () => {}, reload: () => {}, exit: () => {} })
  expect(process.listenerCount('SIGHUP')).toBe(before + 1)
  remove()
  expect(process.listenerCount('SIGHUP')).toBe(before)
})
