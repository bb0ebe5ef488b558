/** Headers that a customer adds to the requests of a webhook or an inbound route, such as the key of an API gateway. Only
 *  the endpoint reads the values: they are encrypted at rest, and no record shows them. */
export type EndpointHeaders = readonly (readonly [name: string, value: string])[]

/** Headers → their names, as given. */
export function headerNamesOf(headers: EndpointHeaders): string[] {
  return headers.map(([name]) => name)
}

/** URL of an endpoint → scheme, host and port, for which its headers were given (RFC 6454 §4). Headers never go to another
 *  origin: a person who may change the URL but does not know the values could otherwise read them. */
export function originOf(url: string): string {
  return URL.parse(url)?.origin ?? url
}
