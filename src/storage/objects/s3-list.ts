import { readXml, XmlFault } from '../../mail/xml.ts'
import { readBody, type S3, S3Failure } from './s3-requests.ts'

export interface ListedObject {
  key: string
  /** ms UTC; NaN if the service does not say. */
  writtenAt: number
}

/** Up to 1,000 objects whose keys begin with `folder` and come after `after`, in their order, and whether there are more.
 *  Rejects as S3, and with S3Failure if the service lists others: a caller removes what is listed, and goes on after the
 *  last one. */
export async function listObjects(
  s3: S3,
  { folder, after, signal }: { folder: string; after: string; signal?: AbortSignal },
): Promise<{ objects: ListedObject[]; isMore: boolean }> {
  const query = { 'list-type': '2', prefix: folder, 'start-after': after, 'max-keys': String(PAGE) }
  const response = await s3.ask({ method: 'GET', key: '', query, ...(signal !== undefined && { signal }) })
  const listed = readList(new TextDecoder().decode(await readBody(response, MOST_LIST_BYTES)))
  const isWanted = ({ key }: ListedObject) => key.startsWith(folder) && compare(key, after) > 0
  if (listed.objects.length <= PAGE && listed.objects.every(isWanted)) return listed
  throw new S3Failure('the service lists other objects than it was asked for')
}

const PAGE = 1000
/** A key has at most 1,024 bytes, its other facts some hundred. */
const MOST_LIST_BYTES = PAGE * 2_048

/** The order of the service is that of the bytes. */
const compare = (one: string, other: string) => Buffer.compare(Buffer.from(one), Buffer.from(other))

function readList(xml: string): { objects: ListedObject[]; isMore: boolean } {
  const objects: ListedObject[] = []
  let isMore = false
  let facts: Record<string, string> = {}
  let root = ''
  try {
    readXml(xml, {
      open: (name) => {
        root ||= name
      },
      close: (name, text) => {
        if (name === 'Key' || name === 'LastModified') facts[name] = text
        if (name === 'IsTruncated') isMore = text === 'true'
        if (name !== 'Contents') return
        objects.push({ key: facts.Key ?? '', writtenAt: Date.parse(facts.LastModified ?? '') })
        facts = {}
      },
    })
  } catch (thrown) {
    if (!(thrown instanceof XmlFault)) throw thrown
    throw new S3Failure(`the list cannot be read: ${thrown.message}`)
  }
  if (root !== 'ListBucketResult') throw new S3Failure('the answer is not a list of objects')
  return { objects, isMore }
}
