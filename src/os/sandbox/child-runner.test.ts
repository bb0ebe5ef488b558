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
