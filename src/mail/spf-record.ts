/** True for the text of an SPF record (RFC 7208 §4.5). */
export function isSpf(text: string): boolean {
  return /^v=spf1(?: |$)/i.test(text)
}

/** SPF records of one name, and who else is to pass → the one record to have instead: the mechanisms of all, ours first,
 *  and in the end what the first of them says of everybody else (`~all` when none says it). Two records at one name are
 *  an error to receivers, whatever they say (RFC 7208 §4.5). */
export function mergedSpf(records: readonly string[], mechanism?: string): string {
  const terms = records.flatMap((record) => record.trim().split(/\s+/).slice(1))
  const isEnd = (term: string) => /^[-~?+]?all$|^redirect=/i.test(term)
  const end = terms.find(isEnd) ?? '~all'
  return [
    'v=spf1',
    ...new Set([...(mechanism === undefined ? [] : [mechanism]), ...terms.filter((term) => !isEnd(term))]),
    end,
  ].join(' ')
}
