import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { niceValues } from '../../test/support/nice-values.ts'

test('a thread lowers its own priority and that of no other', async () => {
  const own = Number(readFileSync('/proc/thread-self/stat', 'utf8').split(') ')[1]!.split(' ')[16])
  const path = new URL('./thread-priority.ts', import.meta.url).href
  const code = `import { lowerThreadPriority } from ${JSON.stringify(path)}; lowerThreadPriority(${own + 3}); onmessage = () => {}; postMessage('done')` // stays for another message
  const worker = new Worker(URL.createObjectURL(new Blob([code], { type: 'application/typescript' })))
  await new Promise((resolve) => worker.addEventListener('message', resolve, { once: true }))
  expect(niceValues()).toContain(own + 3)
  expect(Number(readFileSync('/proc/thread-self/stat', 'utf8').split(') ')[1]!.split(' ')[16])).toBe(own)
  worker.terminate()
})
