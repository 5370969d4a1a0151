import type { UserOperation } from './facets/accounts.ts'

/** An operation as JSON: whole numbers are decimal strings. */
export const operationToJson = (operation: UserOperation): string =>
  JSON.stringify(operation, (_, value) => (typeof value === 'bigint' ? value.toString() : value))

type Stored<Type> = {
  [Key in keyof Type]: Type[Key] extends bigint
    ? string
    : Type[Key] extends object
      ? Stored<Type[Key]>
      : Type[Key]
}

export function operationFromJson(text: string): UserOperation {
  const stored = JSON.parse(text) as Stored<Required<UserOperation>>
  const { sponsorship } = stored
  return {
    ...(stored as unknown as UserOperation),
    nonce: BigInt(stored.nonce),
    callGas: BigInt(stored.callGas),
    verificationGas: BigInt(stored.verificationGas),
    preVerificationGas: BigInt(stored.preVerificationGas),
    maxFeeAtomic: BigInt(stored.maxFeeAtomic),
    priorityFeeAtomic: BigInt(stored.priorityFeeAtomic),
    sponsorship: sponsorship && {
      address: sponsorship.address,
      data: sponsorship.data,
      verificationGas: BigInt(sponsorship.verificationGas),
      postOpGas: BigInt(sponsorship.postOpGas),
    },
  }
}
