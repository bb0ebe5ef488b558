import { StoreUnavailable } from '../errors.ts'
import type { AcceptedInbound, AcceptedMessage, ClaimedDelivery, Store } from '../store.ts'
import type { Objects } from './objects.ts'
import { packReference, unpackReference } from './reference.ts'

/** Shorter contents stay in the database: a request for an object takes longer than they do. */
const MIN_OBJECT_BYTES = 16 * 1024
/** A key has at most 1,024 bytes, and names all owners. A content of more messages stays in the database. */
const MAX_OWNERS = 25

/** What a content is of: an outbound message, or the raw and the parsed form of an inbound mail. */
type ObjectKind = 'content' | 'raw' | 'parsed'

/** A store whose contents of at least `minBytes` are objects. They are written before the change of their owners; the
 *  row keeps key, length and hash. If the change is refused they are removed, and those of a process that died in
 *  between by removeOrphans. Contents that are in the database stay there.
 *
 *  New objects are in `folder` ('' or with a slash at its end), and only this folder is searched for orphans: another
 *  store that uses the bucket, or a copy of this one, needs another folder, or each would remove the objects of the other. */
export function withObjects(
  store: Store,
  objects: Objects,
  { folder = '', minBytes = MIN_OBJECT_BYTES }: { folder?: string; minBytes?: number } = {},
): Store {
  const { messages, deliveries, inbound } = store
  const underWay = new Set<Promise<void>>()
  const begin = () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    underWay.add(promise)
    return () => {
      underWay.delete(promise)
      resolve()
    }
  }
  const writing = (written: string[]) => async (kind: ObjectKind, owners: readonly string[], bytes: Uint8Array) => {
    if (bytes.byteLength < minBytes || owners.length > MAX_OWNERS) return bytes
    const key = `${folder}${kind}/${owners.join('.')}`
    const hash = await hashOf(bytes)
    written.push(key)
    await objects.put(key, bytes)
    return packReference({ key, bytes: bytes.byteLength, hash })
  }
  /** Calls `write` for contents and `take` for the change, whose result says whether it was written. */
  const ahead = async <T>(
    change: (write: ReturnType<typeof writing>) => Promise<T>,
    isWritten: (result: T) => boolean,
  ): Promise<T> => {
    const written: string[] = []
    const end = begin()
    try {
      const result = await change(writing(written))
      if (!isWritten(result)) await removeAll(objects, written)
      return result
    } catch (error) {
      const mayBeWritten = error instanceof StoreUnavailable && error.isUncertain
      if (!mayBeWritten) await removeAll(objects, written)
      throw error
    } finally {
      end()
    }
  }
  const read = async (stored: Uint8Array | null): Promise<Uint8Array | null> => {
    const reference = stored === null ? null : unpackReference(stored)
    if (reference === null) return stored
    const bytes = await objects.get(reference.key, reference.bytes + 1)
    if (bytes === null) throw new Error(`the object ${reference.key} is missing`)
    const isWhole = bytes.byteLength === reference.bytes && Buffer.compare(await hashOf(bytes), reference.hash) === 0
    if (!isWhole) throw new Error(`the object ${reference.key} is damaged`)
    return bytes
  }
  /** The content of an object is read when the delivery has memory for it. */
  const withoutReference = (claim: ClaimedDelivery): ClaimedDelivery =>
    claim.content === null || unpackReference(claim.content) === null ? claim : { ...claim, content: null }

  return {
    ...store,
    messages: {
      ...messages,
      accept: (accepted, volume, remember) =>
        ahead(
          async (write) => messages.accept(await Promise.all(accepted.map(storingContent(write))), volume, remember),
          ({ kind }) => kind === 'accepted',
        ),
      content: async (id) => read(await messages.content(id)),
      removeContent: async (id, reason, now) => {
        const stored = await messages.content(id)
        const result = await messages.removeContent(id, reason, now)
        const reference = stored === null ? null : unpackReference(stored)
        // If the process ends before this, it is an orphan.
        if (result === 'removed' && reference !== null) await removeAll(objects, [reference.key])
        return result
      },
    },
    contents: {
      checkObjects: async () => {
        const key = `${folder}check/${crypto.randomUUID()}`
        const bytes = crypto.getRandomValues(new Uint8Array(64))
        await objects.put(key, bytes)
        const found = await objects.get(key, bytes.byteLength + 1)
        await objects.remove(key)
        if (found === null || Buffer.compare(found, bytes) !== 0) throw new Error('object storage returns other bytes')
        return true
      },
      removeOrphans: async ({ after, before }) => {
        const listed = await objects.list(folder, after)
        const old = listed.filter(({ writtenAt }) => writtenAt < before).map(({ key }) => key)
        const owners = (kinds: readonly ObjectKind[]) => old.filter(isOf(folder, kinds)).flatMap(ownersOf)
        const existing = new Set([
          ...(await messages.existing(owners(['content']))),
          ...(await inbound.existing(owners(['raw', 'parsed']))),
        ])
        const orphans = old.filter((key) => !ownersOf(key).some((id) => existing.has(id)))
        await removeAll(objects, orphans)
        return listed.at(-1)?.key ?? null
      },
    },
    deliveries: {
      ...deliveries,
      claimDue: async (request) => (await deliveries.claimDue(request)).map(withoutReference),
      content: async (messageId) => read(await deliveries.content(messageId)),
    },
    inbound: {
      ...inbound,
      accept: (accepted) =>
        ahead(
          async (write) => inbound.accept(await storingInbound(accepted, write)),
          (result) => result === 'accepted',
        ),
      raw: async (id) => read(await inbound.raw(id)),
      parsed: async (id) => read(await inbound.parsed(id)),
    },
    close: async () => {
      await Promise.all(underWay)
      await store.close()
    },
  }
}

/** Owners in the key of a content. */
const ownersOf = (key: string) => key.slice(key.lastIndexOf('/') + 1).split('.')
const isOf = (folder: string, kinds: readonly ObjectKind[]) => (key: string) =>
  kinds.some((kind) => key.startsWith(`${folder}${kind}/`))

type Write = (kind: ObjectKind, owners: readonly string[], bytes: Uint8Array) => Promise<Uint8Array>

function storingContent(write: Write): (accepted: AcceptedMessage) => Promise<AcceptedMessage> {
  return async (accepted) => ({
    ...accepted,
    content: await write('content', [accepted.message.id], accepted.content),
  })
}

async function storingInbound(
  { raw, parsed, taken, ...rest }: AcceptedInbound,
  write: Write,
): Promise<AcceptedInbound> {
  const owners = taken.map(({ message }) => message.id)
  const store = storingContent(write)
  return {
    ...rest,
    raw: await write('raw', owners, raw),
    parsed: await write('parsed', owners, parsed),
    taken: await Promise.all(
      taken.map(async (one) => ({ ...one, forward: one.forward === null ? null : await store(one.forward) })),
    ),
  }
}

/** Removes objects. What cannot be removed now is an orphan. */
async function removeAll(objects: Objects, keys: readonly string[]): Promise<void> {
  await Promise.allSettled(keys.map((key) => objects.remove(key)))
}

/** Off the thread. */
async function hashOf(bytes: Uint8Array): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>))
}
