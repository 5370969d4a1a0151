import Type from 'typebox'
import { described, logged } from '#runtime/http/openapi/annotate'

const optionalText = (description: string) => Type.Optional(Type.String({ description, maxLength: 200 }))

export const levelField = Type.Enum(['LOW', 'MEDIUM', 'HIGH'], {
  title: 'FeeLevel',
  description: 'How much to offer for a place in the next blocks.',
})

/** The fee fields of a request; `parseFeeRequest` has their rules. */
export const feeFields = {
  feeLevel: Type.Optional(described(levelField, 'The fee level; excludes gasPrice, maxFee and priorityFee.')),
  gasLimit: logged(
    'amount',
    optionalText(
      'The limit of gas, on Solana of compute units, a whole number as a string. Required without feeLevel.',
    ),
  ),
  gasPrice: logged(
    'amount',
    optionalText('The price of a unit of gas on chains without EIP-1559: on Aptos in octas.'),
  ),
  maxFee: logged('amount', optionalText('The maximum fee for each unit of gas in gwei (EIP-1559).')),
  priorityFee: logged(
    'amount',
    optionalText(
      'The priority fee for each unit of gas in gwei (EIP-1559), on Solana in millionths of a lamport: there it may be left out.',
    ),
  ),
}

export const refIdField = optionalText('A reference of your own.')

const fee = (description: string) => Type.Optional(Type.String({ description }))
export const feeTier = Type.Object(
  {
    gasLimit: logged('amount', fee('The limit of gas.')),
    gasPrice: logged(
      'amount',
      fee('The price of a unit of gas on chains without EIP-1559: on Aptos in octas.'),
    ),
    baseFee: logged('amount', fee('The base fee of the next block in gwei.')),
    priorityFee: logged('amount', fee('The priority fee in gwei, on Solana in millionths of a lamport.')),
    maxFee: logged('amount', fee('The maximum fee in gwei.')),
    networkFee: logged(
      'amount',
      fee(
        'The highest cost in native coins: gasLimit times maxFee or gasPrice; on Solana with the fee for signatures, and the rent of an account that the recipient lacks.',
      ),
    ),
    networkFeeRaw: logged('amount', fee('The cost in native coins at the current base fee.')),
    l1Fee: logged(
      'amount',
      fee(
        'The fee in native coins for data on the parent chain, beside networkFee, on chains of the OP stack. Absent on others and on local chains, which have no parent.',
      ),
    ),
  },
  { title: 'FeeTier', description: 'Fees at one level.' },
)
export const feeTiers = {
  low: described(feeTier, 'The fees at the level LOW.'),
  medium: described(feeTier, 'The fees at the level MEDIUM.'),
  high: described(feeTier, 'The fees at the level HIGH.'),
}
const operationGas = (description: string) =>
  Type.Optional(Type.String({ description: `${description} Only for a smart account.` }))

export const feeTableAnswer = Type.Object(
  {
    ...feeTiers,
    callGasLimit: logged('amount', operationGas('The gas of the call of the user operation.')),
    verificationGasLimit: logged(
      'amount',
      operationGas('The gas of its verification, and of the creation of the account.'),
    ),
    preVerificationGas: logged('amount', operationGas('The gas that bundling it costs.')),
  },
  {
    title: 'EstimatedFees',
    description: 'The estimated fees at each level.',
  },
)
