import type { UserOperation } from '#chains/facets/accounts'
import type { ErrorName } from '#lib/error-kinds'
import { ApiError } from '#lib/errors'

/** The errors for codes of the EntryPoint, by the part of the operation that failed. */
const kindOfReason: readonly [RegExp, ErrorName][] = [
  [/^AA24/, 'rpcSignatureInvalid'],
  [/^AA[23]2/, 'rpcOutOfTimeRange'],
  [/^AA3/, 'rpcNotSponsored'],
]

/**
 * The error for an operation that the EntryPoint rejects. Clients recognise it by the words of the EntryPoint, which ERC-7769
 * requires as the message, and the paymaster that failed by the data.
 */
export function rejection({ sponsorship }: UserOperation, reason: string): ApiError {
  const kind = kindOfReason.find(([pattern]) => pattern.test(reason))?.[1] ?? 'rpcOperationRejected'
  const failing = reason.startsWith('AA3') ? sponsorship : undefined
  return new ApiError(kind, reason, [], failing && { paymaster: failing.address })
}
