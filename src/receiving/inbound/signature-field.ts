import { toALabel } from 'mailauth/lib/tools'
import { isLocalPart } from '../../mail/address.ts'
import { trimBlanks } from '../../mail/blanks.ts'

/** A DKIM-Signature, or an ARC-Message-Signature, before its key is known. */
export interface SignatureField {
  /** Why it cannot pass, in the words of RFC 6376 §6.1.1 where it has some; null if the key decides. */
  fault: string | null
  /** d=, s=, a= and b= as written, without blanks in b=; empty if absent. */
  domain: string
  selector: string
  algorithm: string
  value: string
  keyType: 'rsa' | 'ed25519'
  hash: 'sha256' | 'sha1'
  isHeaderRelaxed: boolean
  isBodyRelaxed: boolean
  /** l=; Infinity without. */
  mostBytes: number
  /** bh= without blanks. */
  bodyHash: string
  /** h= in lower case. */
  names: string[]
  /** The domain of i=; '' without. */
  identityDomain: string
  /** x= in milliseconds; Infinity without. */
  expiresAt: number
}

/** Text of a field, name included → the signature. Unknown tags are ignored. Linear, never throws. RFC 6376 §3.2, §3.5,
 *  §6.1.1; RFC 8301 §3.1; RFC 8463 §3; for `arc`, whose instance and tags the chain has checked, RFC 8617 §4.1.2. */
export function readSignature(field: string, kind: 'dkim' | 'arc'): SignatureField {
  const { tags, isValid } = tagsOf(field.slice(field.indexOf(':') + 1))
  const tag = (name: string) => tags.get(name) ?? ''
  const algorithm = tag('a')
  const [keyType = '', hash = ''] = ALGORITHM.test(algorithm) ? algorithm.toLowerCase().split('-') : []
  const [headerForm, bodyForm = 'simple', ...more] = (tags.get('c') ?? 'simple').toLowerCase().split(/ ?\/ ?/)
  const signature: SignatureField = {
    fault: null,
    domain: tag('d'),
    selector: tag('s'),
    algorithm,
    value: tag('b').replace(FOLDS, ''),
    keyType: keyType === 'ed25519' ? 'ed25519' : 'rsa',
    hash: hash === 'sha1' ? 'sha1' : 'sha256',
    isHeaderRelaxed: headerForm === 'relaxed',
    isBodyRelaxed: bodyForm === 'relaxed',
    mostBytes: tags.has('l') ? Number(tag('l')) : Number.POSITIVE_INFINITY,
    bodyHash: tag('bh').replace(FOLDS, ''),
    names: namesOf(tag('h')),
    identityDomain: '',
    expiresAt: tags.has('x') ? Number(tag('x')) * 1000 : Number.POSITIVE_INFINITY,
  }
  const known = kind === 'dkim' ? DKIM_ALGORITHMS : ARC_ALGORITHMS
  if (!known.has(`${keyType}-${hash}`)) return { ...signature, fault: 'unknown algorithm' }
  if (more.length > 0 || ![headerForm, bodyForm].every((form) => form === 'simple' || form === 'relaxed'))
    return { ...signature, fault: 'unknown canonicalization' }
  if (signature.domain === '' || signature.selector === '') return { ...signature, fault: MISSING }
  if (kind === 'dkim') {
    const identity = tags.has('i') ? identityOf(tag('i')) : null
    const fault = faultOf(signature, tags, isValid, identity)
    if (fault !== null) return { ...signature, fault }
    signature.identityDomain = identity?.domain ?? ''
  }
  if (!BASE64.test(signature.value)) return { ...signature, fault: SYNTAX }
  if (signature.expiresAt <= Number(tag('t')) * 1000) return { ...signature, fault: 'invalid expiration' }
  // Otherwise another From could replace the signed one.
  return signature.names.includes('from') ? signature : { ...signature, fault: 'From field not signed' }
}

/** The first rule of RFC 6376 §6.1.1 that it breaks. */
function faultOf(
  { domain, selector, names }: SignatureField,
  tags: ReadonlyMap<string, string>,
  isValid: boolean,
  identity: Identity | null,
): string | null {
  if (!isValid) return SYNTAX
  if (REQUIRED.some((name) => !tags.has(name))) return MISSING
  if (tags.get('v') !== '1') return 'incompatible version'
  const isNumeric = (name: string, form: RegExp) => !tags.has(name) || form.test(tags.get(name)!)
  if (!isNumeric('t', TIME) || !isNumeric('x', TIME) || !isNumeric('l', LENGTH)) return SYNTAX
  if (names.length === 0) return SYNTAX
  if (!isDomain(domain) || selector.length > MAX_NAME || !SELECTOR.test(toALabel(selector))) return SYNTAX
  const methods = tags.get('q')?.toLowerCase().split(':')
  if (methods !== undefined && !methods.some((method) => method.trim() === 'dns/txt')) return 'unsupported query method'
  if (identity !== null) {
    if (!identity.isValid) return SYNTAX
    if (!isWithin(identity.domain, domain)) return 'domain mismatch'
  }
  return null
}

const MISSING = 'signature missing required tag'
const SYNTAX = 'signature syntax error'
const REQUIRED = ['v', 'a', 'b', 'bh', 'd', 'h', 's']
const DKIM_ALGORITHMS = new Set(['rsa-sha256', 'ed25519-sha256', 'rsa-sha1'])
const ARC_ALGORITHMS = new Set(['rsa-sha256', 'ed25519-sha256'])
const ALGORITHM = /^[a-z][a-z0-9]*-[a-z][a-z0-9]*$/i
const TIME = /^\d{1,12}$/
const LENGTH = /^\d{1,76}$/
const FOLDS = /[ \t\r\n]+/g
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/
const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?'
/** DNS allows `_`, and some selectors have it. */
const SELECTOR = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)*$/i
const DOMAIN = new RegExp(`^${LABEL}(?:\\.${LABEL})+$`, 'i')

/** Values with white space reduced to single spaces, the last of a name. A list is invalid with a repeated name, an
 *  empty tag that is not the last, a wrong name or no value. */
function tagsOf(list: string): { tags: Map<string, string>; isValid: boolean } {
  const tags = new Map<string, string>()
  let isValid = true
  const parts = trimBlanks(list, FOLDING).split(';')
  for (const [at, part] of parts.entries()) {
    const equals = part.indexOf('=')
    if (equals < 0) {
      const isEnd = at === parts.length - 1 && at > 0 && trimBlanks(part, FOLDING) === ''
      if (!isEnd) isValid = false
      continue
    }
    const name = trimBlanks(part.slice(0, equals), FOLDING)
    if (!TAG_NAME.test(name) || tags.has(name)) isValid = false
    tags.set(name, trimBlanks(part.slice(equals + 1).replace(FOLDS, ' ')))
  }
  return { tags, isValid }
}

const TAG_NAME = /^[a-z][a-z0-9_]*$/i
const FOLDING = ' \t\r\n'

const namesOf = (list: string) =>
  list
    .replace(FOLDS, '')
    .toLowerCase()
    .split(':')
    .filter((name) => name !== '')

interface Identity {
  domain: string
  isValid: boolean
}

/** Three times an address, RFC 5321 §4.5.3.1, with some folds. */
const MAX_IDENTITY = 1_000

/** i=, in dkim-quoted-printable. RFC 6376 §2.11, §3.5 */
function identityOf(value: string): Identity {
  if (value.length > MAX_IDENTITY) return { domain: '', isValid: false }
  const bytes = Buffer.from(value.replace(FOLDS, '')).toString('latin1')
  const decoded = bytes.replace(/=([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  const identity = Buffer.from(decoded, 'latin1').toString()
  const at = identity.lastIndexOf('@')
  const domain = identity.slice(at + 1)
  return { domain, isValid: at >= 0 && (at === 0 || isLocalPart(identity.slice(0, at))) && isDomain(domain) }
}

/** Converting a longer name to A-labels takes quadratic time. RFC 1035 §2.3.4 */
const MAX_NAME = 253
const isDomain = (domain: string) => domain.length <= MAX_NAME && DOMAIN.test(toALabel(domain))

/** Whether a domain is the other one or a subdomain of it, in any letter case. */
function isWithin(domain: string, parent: string): boolean {
  const [inner, outer] = [sameDomain(domain), sameDomain(parent)]
  return inner === outer || inner.endsWith(`.${outer}`)
}

/** A form of a domain that is the same for all spellings. */
export const sameDomain = (domain: string) => toALabel(domain).toLowerCase()
