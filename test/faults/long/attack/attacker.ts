import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

/** An attacker in a separate process at the lowest priority: real attackers bring their own processors. */
export interface Attacker {
  /** Ends it; → its counts, in words. */
  stop(): Promise<string>
}

/** A file of this folder and its parameters → the running attacker. Rejects when it ends at once. */
export async function startAttacker(
  file: 'stranger-load.ts' | 'tenant-load.ts',
  parameters: object,
): Promise<Attacker> {
  const child: ChildProcess = spawn(
    'nice',
    ['-n', '19', process.execPath, join(import.meta.dir, file), JSON.stringify(parameters)],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  )
  const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]()
  const first = await lines.next()
  if (first.done) throw new Error(`${file} did not start`)
  return {
    stop: async () => {
      child.stdin!.end()
      const last = await lines.next()
      child.kill('SIGKILL')
      return String(last.value ?? 'it died')
    },
  }
}

/** Inside the process: reports the start, and the counts when standard input ends. */
export function attackUntilTold(counts: Record<string, number>): void {
  console.log('begun')
  process.stdin.on('end', () => {
    const words = Object.entries(counts).map(([what, count]) => `${count} ${what}`)
    console.log(words.join(', '))
    process.exit(0)
  })
  process.stdin.resume()
}

/** Runs `work` repeatedly, `width` at a time, until the process ends. Errors count as answers. */
export function forever(width: number, work: (n: number) => Promise<unknown>): void {
  let n = 0
  for (let lane = 0; lane < width; lane++) {
    void (async () => {
      for (;;) {
        const beganAt = performance.now()
        await work(n++).catch(() => {})
        if (performance.now() - beganAt < 5) await Bun.sleep(5)
      }
    })()
  }
}
