import { isolateJobs } from './job-isolation.ts'
import { EXIT } from './runner.ts'

declare const self: Worker

/** Sends one message to the main thread; it has left when this returns. */
export type Post<Message> = (message: Message, transfer?: ArrayBuffer[]) => void

/** Runs the code of a thread, under the rule of job-isolation.ts: `serve` gets the function that posts to the main thread
 *  and returns the handler of its messages. Does nothing on the main thread, so that a test may import an entry. */
export function serveThread<Message>(serve: (post: Post<Message>) => (message: unknown) => void): void {
  if (Bun.isMainThread) return
  const post = (message: unknown, transfer: ArrayBuffer[] = []) => self.postMessage(message, transfer)
  isolateJobs(post)
  const receive = serve(post)
  self.onmessage = (event: MessageEvent) => (event.data === EXIT ? process.exit() : receive(event.data))
}
