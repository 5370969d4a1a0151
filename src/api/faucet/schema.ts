import Type from 'typebox'
import { testBlockchainField } from '#api/fields'
import { described, logged } from '#runtime/http/openapi/annotate'

const wanted = (description: string) => Type.Optional(Type.Boolean({ default: false, description }))

export const dripSchema = Type.Object(
  {
    address: logged(
      'address',
      Type.String({
        minLength: 1,
        maxLength: 100,
        description: 'The address to pay: any of the blockchain.',
      }),
    ),
    blockchain: described(testBlockchainField, 'The blockchain to pay on.'),
    native: wanted('Pay 1 native coin.'),
    usdc: wanted('Pay 20 USDC.'),
    eurc: wanted('Pay 20 EURC.'),
  },
  {
    title: 'RequestTestnetTokensRequest',
    description: 'The coins to pay, and the address to pay them to.',
    examples: [
      {
        address: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
        blockchain: 'BASE-SEPOLIA',
        native: true,
        usdc: true,
      },
    ],
  },
)
