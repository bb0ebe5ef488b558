import { expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { startChild } from './child-runner.ts'

const openDescriptors = () => readdirSync('/proc/self/fd').length

test.skipIf(process.platform !== 'linux')(
  'a program that cannot be started throws and leaves no descriptor open',
  () => {
    const start = () =>
      startChild({ command: ['/nonexistent/postrider'], memoryBytes: 2 ** 30, maxMessageBytes: 2 ** 20 })
    expect(start).toThrow()
    const before = openDescriptors()
    for (let n = 0; n < 10; n++) expect(start).toThrow()
    expect(openDescriptors()).toBe(before)
  },
)

test.skipIf(process.platform !== 'linux').each([
  ['kill -SEGV $$', 'signal SIGSEGV ended the process'],
  ['echo out of paper >&2; exit 3', 'the process exited with code 3\nout of paper'],
])('a process that runs %p ends with that reason, not with its closed channel', async (script, reason) => {
  const child = startChild({ command: ['/bin/sh', '-c', script], memoryBytes: 2 ** 30, maxMessageBytes: 2 ** 20 })
  expect(await new Promise((resolve) => child.onEnd(resolve))).toBe(reason)
})
