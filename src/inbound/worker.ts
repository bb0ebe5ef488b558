import { readerInside } from './reader.ts'

/** A reader thread, used where no confined process is available. */
declare const self: Worker

if (!Bun.isMainThread) {
  const take = readerInside((message, transfer) => self.postMessage(message, transfer ?? []))
  self.onmessage = (event: MessageEvent<unknown>) => take(event.data)
}
