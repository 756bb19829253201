// SPDX-License-Identifier: Apache-2.0

//lint:file-ignore SA5008 tags that are not as they should be are what is tested here

package plan

import (
	"encoding/json"
	"errors"
	"net"
	"net/netip"
	"strconv"
	"time"
)

// The types that write themselves, each in another way.
type (
	byValue         struct{ A, B int }
	byPointer       struct{ A, B int }
	textValue       struct{ S string }
	textPointer     struct{ S string }
	textInt         int
	textString      string
	textByte        byte
	jsonMap         map[string]int
	jsonSlice       []int
	jsonFunc        func() string
	zeroable        struct{ N int }
	zeroablePointer struct{ N int }
	zeroableInt     int
	failing         struct{}
	both            struct{ N int } // MarshalJSON by value, MarshalText by pointer
	textThenJSON    struct{ N int } // MarshalText by value, MarshalJSON by pointer
)

func (v byValue) MarshalJSON() ([]byte, error) {
	return []byte(`{ "a" : ` + strconv.Itoa(v.A) + ", \"b\":\n[" + strconv.Itoa(v.B) + " ] }"), nil
}
func (v *byPointer) MarshalJSON() ([]byte, error) { return byValue(*v).MarshalJSON() }
func (v textValue) MarshalText() ([]byte, error)  { return []byte("<" + v.S + ">"), nil }
func (v *textPointer) MarshalText() ([]byte, error) {
	return []byte("*" + v.S + "*"), nil
}
func (v textInt) MarshalText() ([]byte, error)    { return []byte("n" + strconv.Itoa(int(v))), nil }
func (v textString) MarshalText() ([]byte, error) { return []byte("t" + string(v)), nil }
func (v *textByte) MarshalText() ([]byte, error)  { return []byte("b" + strconv.Itoa(int(*v))), nil }
func (v jsonMap) MarshalJSON() ([]byte, error)    { return strconv.AppendInt(nil, int64(len(v)), 10), nil }
func (v jsonSlice) MarshalJSON() ([]byte, error) {
	return strconv.AppendInt(nil, int64(len(v)), 10), nil
}
func (v jsonFunc) MarshalJSON() ([]byte, error) {
	if v == nil {
		return []byte(`"nil"`), nil
	}
	return json.Marshal(v())
}
func (v zeroable) IsZero() bool         { return v.N%2 == 0 }
func (v *zeroablePointer) IsZero() bool { return v.N%2 == 0 }
func (v zeroableInt) IsZero() bool      { return v == 5 }

var errFailing = errors.New("it fails")

func (failing) MarshalJSON() ([]byte, error)         { return nil, errFailing }
func (v both) MarshalJSON() ([]byte, error)          { return []byte(`"json"`), nil }
func (v *both) MarshalText() ([]byte, error)         { return []byte("text"), nil }
func (v textThenJSON) MarshalText() ([]byte, error)  { return []byte("text"), nil }
func (v *textThenJSON) MarshalJSON() ([]byte, error) { return []byte(`"json"`), nil }

type (
	namedString string
	namedBytes  []byte
	labels      map[string]string
	onePointer  struct{ P *int }
	oneMap      struct{ M map[string]int }
	padded      struct {
		P *int
		_ struct{}
	}
	flat struct {
		Name  string
		Count int32
		Ratio float32
		On    bool
	}
	tree struct {
		Value    int
		Left     *tree            `json:",omitempty"`
		Children []tree           `json:"children,omitempty"`
		Named    map[string]*tree `json:",omitempty"`
	}
)

// Embedding, with names that hide each other.
type (
	Inner  struct{ A, B, Own int }
	Shadow struct {
		A int `json:"a"`
		B string
		C bool
	}
	Deep struct {
		*Inner
		Shadow
		Low string `json:"low"`
	}
	unexported struct {
		A     int
		Inner *Inner
	}
	Diamond struct {
		Left
		Right
	}
	Left  struct{ Base }
	Right struct{ Base }
	Base  struct {
		X int
		Below
	}
	Below struct{ Y int }
	Word  string
	Iface interface{ MarshalText() ([]byte, error) }
)

// byHand are types that a generator would not find.
var byHand = []any{
	"", 0, false, 1.5, []int(nil), map[string]int(nil), [0]int{}, struct{}{}, (*int)(nil), time.Duration(0),
	byValue{}, byPointer{}, textValue{}, textPointer{}, textInt(0), textString(""), jsonMap(nil), jsonSlice(nil), jsonFunc(nil),
	both{}, textThenJSON{}, []both{}, map[string]both{}, map[string]textThenJSON{}, []textThenJSON{}, map[string]byPointer{}, []byPointer{}, [2]byPointer{},
	[]textByte{}, [3]textByte{}, map[string]textByte{}, namedBytes{}, [][]byte{}, [3]byte{}, []namedBytes{},
	map[int]string{}, map[uint8]bool{}, map[textValue]int{}, map[textInt]int{}, map[textString]int{}, map[*textPointer]int{}, map[Iface]int{},
	map[string]map[string]any{}, map[string][]any{}, []map[string]string{}, map[namedString]namedString{},
	Deep{}, Diamond{}, tree{}, []tree{}, map[string]tree{}, new(tree), new(*tree), []any{}, any(nil),
	struct{ *Inner }{}, struct{ Inner }{}, struct{ Deep }{}, struct{ Diamond }{},
	struct {
		Inner
		Shadow
	}{},
	struct {
		Inner `json:"inner"`
		A     int
	}{},
	struct{ unexported }{}, struct{ *unexported }{},
	struct {
		unexported `json:"named"`
	}{},
	struct {
		unexported
		A string `json:"A,omitempty"`
	}{},
	struct{ Word }{}, struct{ *Word }{}, struct{ A Iface }{}, struct{ labels }{},
	struct {
		A int `json:"B"`
		B int
	}{},
	struct {
		A int `json:"X"`
		B struct {
			X int `json:"x"`
			Inner
		}
		X int
	}{},
	struct {
		Left
		X string `json:",omitempty"`
	}{},
	struct {
		A *int          `json:",string"`
		B *string       `json:",string"`
		C **int         `json:",string"`
		D textInt       `json:",string"`
		E json.Number   `json:",string"`
		F float32       `json:",string"`
		G bool          `json:",string,omitempty"`
		H any           `json:",string"`
		I []int         `json:",string"`
		J *textString   `json:",string"`
		K uint8         `json:",string"`
		L time.Duration `json:",string"`
		M namedString   `json:",string"`
		N zeroableInt   `json:",string,omitzero"`
		O *json.Number  `json:",string"`
	}{},
	struct {
		A [0]int         `json:",omitempty"`
		B [2]int         `json:",omitempty"`
		C struct{}       `json:",omitempty"`
		D map[string]int `json:",omitempty"`
		E []int          `json:",omitempty"`
		F any            `json:",omitempty"`
		G *int           `json:",omitempty"`
		H float64        `json:",omitempty"`
		I time.Time      `json:",omitempty"`
		J jsonFunc       `json:",omitempty"`
	}{},
	struct {
		A [0]int                     `json:",omitzero"`
		B [2]float64                 `json:",omitzero"`
		C struct{ F float32 }        `json:",omitzero"`
		D map[string]int             `json:",omitzero"`
		E []int                      `json:",omitzero"`
		F any                        `json:",omitzero"`
		G *int                       `json:",omitzero"`
		H float64                    `json:",omitzero"`
		I time.Time                  `json:",omitzero"`
		J *time.Time                 `json:",omitzero"`
		K zeroable                   `json:",omitzero"`
		L *zeroable                  `json:",omitzero"`
		M zeroablePointer            `json:",omitzero"`
		N *zeroablePointer           `json:",omitzero"`
		O interface{ IsZero() bool } `json:",omitzero"`
		P zeroableInt                `json:",omitzero,omitempty"`
		Q jsonFunc                   `json:",omitzero"`
		R func()                     `json:",omitzero"`
		S chan int                   `json:",omitzero"`
		T complex64                  `json:",omitzero"`
		U [3]string                  `json:",omitzero"`
		V flat                       `json:",omitzero"`
	}{},
	struct {
		A int `json:"-"`
		B int `json:"-,"`
		C int `json:""`
		D int `json:",,omitempty,"`
		E int `json:"a,b"`
		G int `json:"<&>"`
		H int `json:"日本"`
		I int `json:"omitempty"`
		J int `json:" "`
		k int
	}{},
	struct {
		A struct {
			B struct {
				C struct{} `json:"c"`
				D int      `json:"d,omitempty"`
			}
			E struct {
				F int `json:",omitempty"`
				G []string
			}
		}
		H *struct{ I struct{ J string } }
	}{},
	netip.Addr{}, netip.AddrPort{}, netip.Prefix{}, net.IP(nil), map[netip.Addr]net.IP{},
	struct {
		A netip.Addr   `json:",omitzero"`
		B *netip.Addr  `json:",omitempty"`
		C netip.Prefix `json:",string"`
		D []net.IP
		E any
		F netip.AddrPort
	}{},
	struct {
		A, B *struct {
			C [2]struct{ D map[string]struct{ E int } }
		}
	}{},
}
