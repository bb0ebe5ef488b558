/** Starts each kind of thread. The file stands directly in src because a compiled program finds its workers by their path
 *  from the folder of its entry, src/main.ts. */

export const startDeliveryThread = () =>
  new Worker(new URL('./sending/outbound/worker.ts', import.meta.url).href, { smol: true })

export const startComposingThread = () =>
  new Worker(new URL('./sending/outbound/composing/worker.ts', import.meta.url).href, { smol: true })

export const startParsingThread = () => new Worker(new URL('./server/parsing/worker.ts', import.meta.url).href)

export const startHttpsThread = () => new Worker(new URL('./net/https/worker.ts', import.meta.url).href, { smol: true })

export const startNameServerThread = () =>
  new Worker(new URL('./domains/name-server/worker.ts', import.meta.url).href, { smol: true })

export const startStorageThread = () =>
  new Worker(new URL('./storage/sqlite/worker.ts', import.meta.url).href, { smol: true })

export const startReaderThread = () =>
  new Worker(new URL('./receiving/inbound/worker.ts', import.meta.url).href, { smol: true })

export const startMailboxThread = () =>
  new Worker(new URL('./operating/canary/worker.ts', import.meta.url).href, { smol: true })
