import { readerInside } from './reader-inside.ts'

/** A reader as a thread, where no confined process can be had. */
declare const self: Worker

if (!Bun.isMainThread) {
  const take = readerInside((message, transfer) => self.postMessage(message, transfer ?? []))
  self.onmessage = (event: MessageEvent<unknown>) => take(event.data)
}
