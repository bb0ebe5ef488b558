import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'

/** Nice values of the threads of this process. proc_pid_stat(5) */
function niceValues(): number[] {
  return readdirSync('/proc/self/task').flatMap((id) => {
    try {
      return [Number(readFileSync(`/proc/self/task/${id}/stat`, 'utf8').split(') ')[1]!.split(' ')[16])]
    } catch {
      return [] // it has ended
    }
  })
}

test('a thread lowers its own priority and that of no other', async () => {
  const own = Number(readFileSync('/proc/thread-self/stat', 'utf8').split(') ')[1]!.split(' ')[16])
  const path = new URL('./thread-priority.ts', import.meta.url).href
  const code = `import { lowerThreadPriority } from ${JSON.stringify(path)}; lowerThreadPriority(${own + 3}); postMessage('done')`
  const worker = new Worker(URL.createObjectURL(new Blob([code], { type: 'application/typescript' })))
  await new Promise((resolve) => worker.addEventListener('message', resolve, { once: true }))
  expect(niceValues()).toContain(own + 3)
  expect(Number(readFileSync('/proc/thread-self/stat', 'utf8').split(') ')[1]!.split(' ')[16])).toBe(own)
  worker.terminate()
})
