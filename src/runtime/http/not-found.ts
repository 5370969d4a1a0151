import type { Endpoint } from './endpoint.ts'
import { createNearestOperations } from './nearest-operation.ts'
import { pathsOf } from './schemas.ts'

/** A documented operation that is not implemented, such as `GET /v1/externalEntities`. */
type NotBuilt = `${Endpoint['method']} /${string}`

/** A product of the interface, or a part of one, that is not implemented. */
export type MissingProduct = {
  /** Words that can follow “belongs to”, such as `lines of credit`. */
  name: string
  /** A sentence about the nearest thing that is implemented. */
  instead?: string
  operations: readonly NotBuilt[]
  /** Paths under which the product has all operations, those that are not listed too. */
  under?: readonly `/${string}`[]
}

const partsOf = (operation: NotBuilt) => operation.split(' ') as [Endpoint['method'], string]

/** The routes of those operations whose paths have no parameter. */
export const fixedPathsOf = (products: readonly MissingProduct[]) =>
  products
    .flatMap(({ operations }) => operations)
    .flatMap((operation) => {
      const [method, path] = partsOf(operation)
      return path.includes('{') ? [] : pathsOf(path).map((url) => ({ method, url }))
    })

/** Creates the search for the product of an operation that is not implemented. */
function createProductOf(products: readonly MissingProduct[]) {
  const operations = products.flatMap((product) =>
    product.operations.flatMap((operation) => {
      const [method, documented] = partsOf(operation)
      return pathsOf(documented).map((path) => ({
        product,
        method: method as string,
        steps: path.split('/'),
      }))
    }),
  )
  const folders = products.flatMap((product) =>
    (product.under ?? []).flatMap(pathsOf).map((folder) => ({ product, folder })),
  )
  return (method: string, path: string): MissingProduct | undefined => {
    const asked = path.split('/')
    const isAsked = (steps: readonly string[]) =>
      steps.length === asked.length &&
      steps.every((step, at) => step === asked[at] || (step.startsWith(':') && asked[at] !== ''))
    const exact = operations.find((each) => each.method === method && isAsked(each.steps))
    const within = exact ?? folders.find(({ folder }) => `${path}/`.startsWith(`${folder}/`))
    return within?.product
  }
}

/**
 * Creates the message of a 404, which distinguishes a documented but unimplemented operation from an unknown path, and
 * names the operations that an unknown one resembles.
 */
export function createNotFoundMessage(
  products: readonly MissingProduct[],
  operations: readonly Pick<Endpoint, 'method' | 'path'>[],
): (method: string, path: string) => string {
  const productOf = createProductOf(products)
  const nearestOf = createNearestOperations(operations)
  return (asked, path) => {
    // HEAD answers like GET, including the length of the omitted text.
    const method = asked === 'HEAD' ? 'GET' : asked
    if (/^\/v\d\/v\d(\/|$)/.test(path))
      return `Resource not found: ${method} ${path} names the version twice. Give your client the base address without ${path.slice(0, 3)}.`
    const product = productOf(method, path)
    if (product) return notBuiltText(`${method} ${path}`, product)
    const near = nearestOf(method, path)
    const hint = near.length > 0 ? `: did you mean ${near.join(' or ')}?` : '.'
    return `Resource not found: ${method} ${path} does not exist${hint} /docs/reference lists the operations.`
  }
}

const notBuiltText = (operation: string, { name, instead }: MissingProduct) =>
  `Resource not found: ${operation} is documented, but not part of this version. It belongs to ${name}. ${instead ? `${instead} ` : ''}/docs/not-built lists what this version lacks, and /docs/reference what it has.`
